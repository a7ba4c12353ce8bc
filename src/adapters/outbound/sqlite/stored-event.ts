import { positionGap } from '../../../core/domain/admission/admission.ts';
import type { Admission } from '../../../core/domain/admission/admission.ts';
import type {
  CarriedMessage,
  CompressionResult,
  SessionEvent,
  SessionEventBody,
  SessionEventHeader,
} from '../../../core/domain/session/events.ts';
import type { SessionProfile } from '../../../core/domain/session/state.ts';
import { metaOf } from '../../../core/domain/transcript/message.ts';
import type { Message, MessageMeta } from '../../../core/domain/transcript/message.ts';

type BodyOf<T extends SessionEventBody['type']> = Extract<SessionEventBody, { type: T }>;

/** `[from, to]`: the row that was copied and its copy. */
type StoredCopy = readonly [fromId: number, id: number];

/**
 * An event as its row holds it: what `evolve` needs and no other table has. Messages and admissions are named by
 * their ids, and most types are stored as they are.
 */
export type StoredBody =
  | { readonly type: 'session.created'; readonly profile: StoredProfile }
  | {
      readonly type: 'admission.queued';
      /** Only where it differs from a fresh admission at the end of the queue. */
      readonly admission: Partial<Admission>;
      readonly payloadFrom?: string;
    }
  | Omit<BodyOf<'admission.edited'>, 'payload'>
  | StoredMessage
  | (Omit<BodyOf<'compression.completed'>, 'head' | 'summary' | 'tail'> & {
      readonly head: readonly StoredCopy[];
      readonly summary: number;
      readonly tail: readonly StoredCopy[];
    })
  | Exclude<
      SessionEventBody,
      {
        type:
          'session.created' | 'admission.queued' | 'admission.edited' | 'message.appended' | 'compression.completed';
      }
    >;

/** An older store doesn't say who answered. */
type StoredMessage = Omit<BodyOf<'message.appended'>, 'message' | 'contentFrom' | 'answeredBy'> &
  Partial<Pick<BodyOf<'message.appended'>, 'answeredBy'>> & { readonly message: number };

/** An older store says nothing of forks. */
type StoredProfile = Omit<SessionProfile, 'systemPrompt' | 'forkedFrom'> & Partial<Pick<SessionProfile, 'forkedFrom'>>;

/** The rows to which stored events refer. Each call throws when its row is missing. */
export interface EventSources {
  systemPrompt(sessionId: string): string | null;
  /** The admission as it is now: its identity is what it was from the beginning. */
  admission(admissionId: string): Admission;
  /** A message with or without its content, as the reader wants it. */
  message(id: number): Message | MessageMeta;
}

export function toStored(event: SessionEvent): StoredBody {
  if (event.type === 'session.created') {
    const { systemPrompt, ...profile } = event.profile;
    return { type: event.type, profile };
  }
  if (event.type === 'admission.queued') {
    const admission = peculiaritiesOf(event.admission);
    return {
      type: event.type,
      admission,
      ...(event.payloadFrom === undefined ? {} : { payloadFrom: event.payloadFrom }),
    };
  }
  const body = bodyOf(event);
  if (body.type === 'admission.edited') return { type: body.type, payloadDigest: body.payloadDigest };
  if (body.type === 'message.appended') {
    const { contentFrom, ...stored } = body;
    return { ...stored, message: body.message.id };
  }
  if (body.type === 'compression.completed') {
    return { ...body, head: body.head.map(toCopy), summary: body.summary.id, tail: body.tail.map(toCopy) };
  }
  return body;
}

/** Evolves like the original event, and is equal to it but for content. */
export function fromStored(header: SessionEventHeader, body: StoredBody, sources: EventSources): SessionEvent {
  if (body.type === 'session.created') {
    const systemPrompt = sources.systemPrompt(header.sessionId);
    return { ...header, type: body.type, profile: { forkedFrom: null, ...body.profile, systemPrompt } };
  }
  if (body.type === 'admission.queued') {
    const identity = sources.admission(header.admissionId ?? '');
    return { ...header, ...body, admission: { ...identity, ...freshFields(identity), ...body.admission } };
  }
  if (body.type === 'message.appended') {
    return { ...header, answeredBy: null, ...body, message: sources.message(body.message) };
  }
  if (body.type === 'compression.completed') {
    return { ...header, ...body, ...carriedMessages(body, (id) => metaOf(sources.message(id))) };
  }
  return { ...header, ...body };
}

/** The messages that `fromStored` asks its sources for. */
export function messagesIn(body: StoredBody): readonly number[] {
  if (body.type === 'message.appended') return [body.message];
  if (body.type !== 'compression.completed') return [];
  return [...body.head, ...body.tail].map(([, id]) => id).concat(body.summary);
}

function bodyOf(event: SessionEvent): SessionEventBody {
  const { sessionId, seq, at, epoch, admissionId, executionGeneration, ...body } = event;
  return body;
}

function toCopy(carried: CarriedMessage): StoredCopy {
  return [carried.fromId, carried.message.id];
}

function carriedMessages(
  body: Extract<StoredBody, { type: 'compression.completed' }>,
  meta: (id: number) => MessageMeta,
): Pick<CompressionResult, 'head' | 'summary' | 'tail'> {
  const carried = ([fromId, id]: StoredCopy): CarriedMessage => ({ fromId, message: meta(id) });
  return { head: body.head.map(carried), summary: meta(body.summary), tail: body.tail.map(carried) };
}

/** What of an admission never changes: its row has it for ever. */
type AdmissionIdentity = Pick<
  Admission,
  'seq' | 'admissionId' | 'inputId' | 'sessionId' | 'principalId' | 'requestDigest' | 'acceptedAt'
>;

/** What every other field is when an admission joins the queue in the usual way. */
function freshFields(admission: AdmissionIdentity): Omit<Admission, keyof AdmissionIdentity> {
  return {
    position: admission.seq * positionGap,
    revision: 1,
    status: 'queued',
    outcome: null,
    delivery: 'queue',
    steers: null,
    mergedInto: null,
    payloadDigest: admission.requestDigest,
    ownerEpoch: null,
    executionGeneration: null,
    boundary: 'none',
    requeueCount: 0,
    step: 0,
    promptMessageId: null,
    stopRequested: null,
    evidence: null,
    failure: null,
    resolution: null,
    retriedBy: null,
    startedAt: null,
    settledAt: null,
  };
}

function peculiaritiesOf(admission: Admission): Partial<Admission> {
  const usual = freshFields(admission);
  const names = Object.keys(usual) as (keyof typeof usual)[]; // an object literal has no other keys than its type
  const differing = names.filter((name) => admission[name] !== usual[name]);
  return Object.fromEntries(differing.map((name) => [name, admission[name]]));
}
