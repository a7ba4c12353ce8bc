import type { CopiedMessage } from '../domain/session/commands.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { ForkOrigin, SessionState } from '../domain/session/state.ts';
import type { AnsweredBy, MessageMeta } from '../domain/transcript/message.ts';
import { forkedTranscript, transcriptAfter } from '../domain/transcript/replay.ts';
import type { Clock } from '../ports/clock.ts';
import type { Digest } from '../ports/digest.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { SessionQueries } from '../ports/session-queries.ts';
import { repeatedCreation } from './create-session.ts';
import type { SessionCreated } from './create-session.ts';
import type { Sent, Sessions } from './sessions.ts';

interface ForkSessionInput {
  readonly principalId: string;
  /** Makes the call idempotent; without one every call makes a session. */
  readonly requestId: string | null;
  readonly sessionId: string;
  readonly messageId: number;
  /** Null takes the title of the session that is forked. */
  readonly title: string | null;
}

/**
 * Makes a session from what another one's transcript was when it held a message. The other one is only read: it may run,
 * and whatever becomes of it later doesn't touch the fork. Where it is deleted first, there is nothing to be taken over.
 */
export type ForkSession = (input: ForkSessionInput) => Promise<Sent<SessionCreated>>;

/** Events that are read at a time. */
const pageSize = 1_000;

export function makeForkSession(deps: {
  readonly sessions: Sessions;
  readonly ledger: Ledger;
  readonly queries: SessionQueries;
  readonly digest: Digest;
  readonly ids: IdSource;
  readonly clock: Clock;
}): ForkSession {
  const { sessions, ledger, queries, digest, ids, clock } = deps;
  return async (input) => {
    const { principalId, sessionId, messageId } = input;
    const forkId = ids.next();
    const requestId = input.requestId ?? forkId;
    const requestDigest = digest.of(JSON.stringify(['fork', sessionId, messageId, input.title]));
    const earlier = input.requestId === null ? null : await ledger.findCreated({ principalId, requestId });
    if (earlier !== null) return repeatedCreation(earlier, requestDigest);

    const origin = await sessions.state(sessionId);
    if (origin === null || origin.deletedAt !== null) return noSuch('session');
    const kept = await keptMessages(sessionId, messageId);
    if (kept === null) return noSuch('message');
    const forkedFrom = { sessionId, messageId: kept.at(-1)?.originId ?? null };
    const profile = profileOf(origin, { principalId, requestId, requestDigest, forkedFrom, title: input.title });
    const sent = await sessions.send(forkId, {
      kind: 'create',
      profile: { ...profile, startedAt: clock.now() },
      messages: kept,
    });
    if (sent.kind === 'done') return { kind: 'done', reply: { sessionId: forkId, created: true } };
    const winner = sent.kind === 'refused' ? await ledger.findCreated({ principalId, requestId }) : null;
    return winner === null ? sent : repeatedCreation(winner, requestDigest);
  };

  /** The messages that the fork takes over, or null when the session never had the one that was named. */
  async function keptMessages(sessionId: string, messageId: number): Promise<readonly CopiedMessage[] | null> {
    const answerers = new Map<number, AnsweredBy | null>();
    const kept = (messages: readonly MessageMeta[]): readonly CopiedMessage[] =>
      messages.map((message) => ({ ...message, answeredBy: answerers.get(message.originId) ?? null }));
    let transcript: readonly MessageMeta[] = [];
    let following: MessageMeta[] | null = null;
    for (let afterSeq = 0; ;) {
      const events = await queries.transcriptEvents({ sessionId, afterSeq, limit: pageSize });
      for (const event of events) {
        if (event.type === 'message.appended') answerers.set(event.message.originId, event.answeredBy);
        if (following === null) {
          transcript = transcriptAfter(transcript, event);
          if (transcript.some(({ id }) => id === messageId)) following = [];
        } else if (event.type === 'message.appended')
          following.push(event.message); // until its turn ends at most
        else return kept(withoutHidden(forkedTranscript(transcript, following, messageId), event));
      }
      const last = events.at(-1);
      if (last === undefined || events.length < pageSize) break;
      afterSeq = last.seq;
    }
    return following === null ? null : kept(forkedTranscript(transcript, following, messageId));
  }
}

/** What leaves its transcript in the append that ends its turn never belonged to it: a paste too large would brick the fork. */
function withoutHidden(messages: readonly MessageMeta[], next: SessionEvent): readonly MessageMeta[] {
  return next.type === 'turn.settled' ? messages.filter(({ id }) => !next.hidden.includes(id)) : messages;
}

function profileOf(
  { profile }: SessionState,
  own: {
    readonly principalId: string;
    readonly requestId: string;
    readonly requestDigest: string;
    readonly forkedFrom: ForkOrigin;
    readonly title: string | null;
  },
): SessionState['profile'] {
  return { ...profile, ...own, title: own.title ?? profile.title };
}

function noSuch(what: 'session' | 'message'): Sent<never> {
  return { kind: 'refused', refusal: { reason: 'not_found', what } };
}
