import type { EventRow, SessionChanges } from './rows.ts';

/** What an admission was at one moment. */
export interface Life {
  readonly status: 'queued' | 'started' | 'unknown' | 'terminal';
  readonly outcome: string | null;
  readonly executionGeneration: number | null;
  readonly revision: number;
  readonly position: number;
  /** Whether it waits for the next step of a turn, and not in the queue. */
  readonly isSteer: boolean;
  readonly stopped: boolean;
  readonly inputId: string;
  readonly principalId: string;
  /** What its id stands for, for ever. */
  readonly submittedText: string;
  /** What it says after the newest edit. */
  readonly text: string;
}

/** A session right after one of its events: one append may make several of them. */
export interface Moment {
  readonly seq: number;
  readonly admissions: ReadonlyMap<string, Life>;
  readonly held: boolean;
  readonly revision: number;
  readonly title: string | null;
  readonly model: string;
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly deleted: boolean;
  readonly executionGeneration: number;
  /** The compression that has begun and has no end. */
  readonly compressing: { readonly byHand: boolean; readonly executionGeneration: number } | null;
}

export const beforeEverything: Moment = {
  seq: 0,
  admissions: new Map(),
  held: false,
  revision: 0,
  title: null,
  model: '',
  archived: false,
  pinned: false,
  deleted: false,
  executionGeneration: 0,
  compressing: null,
};

/** The moment that an event makes. It is the judge's own reading of the log, in a handful of rules. */
export function momentAfter(before: Moment, event: EventRow): Moment {
  const moment = { ...before, seq: event.seq };
  switch (event.type) {
    case 'session.created':
      return { ...moment, revision: 1, title: event.profile?.title ?? null, model: event.profile?.model ?? '' };
    case 'session.held':
      return { ...moment, held: true, revision: before.revision + 1 };
    case 'session.released':
      return { ...moment, held: false, revision: before.revision + 1 };
    case 'session.updated':
      return { ...updated(moment, event.changes ?? {}), revision: before.revision + 1 };
    case 'session.deleted':
      return { ...moment, deleted: true, held: false, title: null, revision: before.revision + 1 };
    case 'admission.queued':
      return withLife(moment, event.admissionId, {
        status: 'queued',
        outcome: null,
        executionGeneration: null,
        revision: 1,
        position: event.admission?.position ?? 0,
        isSteer: event.admission?.delivery === 'steer',
        stopped: false,
        inputId: event.admission?.inputId ?? '',
        principalId: event.admission?.principalId ?? '',
        ...textOf(before, event),
      });
    case 'admission.edited':
      return changed(moment, event, (life) => ({
        text: event.payload?.text ?? life.text,
        revision: life.revision + 1,
      }));
    case 'admission.moved':
      return changed(moment, event, (life) => ({
        position: event.position ?? life.position,
        revision: life.revision + 1,
      }));
    case 'admission.cancelled':
      return changed(moment, event, (life) => ({
        status: 'terminal',
        outcome: 'cancelled',
        revision: life.revision + 1,
      }));
    case 'admission.requeued':
      return changed(moment, event, () => ({ status: 'queued', executionGeneration: null, isSteer: false }));
    case 'admission.merged':
      return changed(moment, event, () => ({ status: 'terminal', outcome: 'completed' }));
    case 'turn.started': {
      const { executionGeneration } = event;
      const started = { ...moment, executionGeneration: executionGeneration ?? 0 };
      return changed(started, event, () => ({ status: 'started', executionGeneration }));
    }
    case 'compression.started': {
      const byHand = event.trigger === 'manual';
      const generation = event.executionGeneration ?? 0;
      const compressing = { byHand, executionGeneration: generation };
      return byHand ? { ...moment, compressing, executionGeneration: generation } : { ...moment, compressing };
    }
    case 'compression.completed':
      return { ...moment, compressing: null, revision: before.revision + 1 };
    case 'compression.failed':
      return { ...moment, compressing: null };
    case 'turn.stop_requested':
      return changed(moment, event, () => ({ stopped: true }));
    case 'turn.lost':
      return changed(moment, event, () => ({ status: 'unknown' }));
    case 'turn.settled':
      return changed(moment, event, () => ({ status: 'terminal', outcome: event.outcome ?? null }));
    case 'turn.resolved':
      return changed(moment, event, () => ({ status: 'terminal', outcome: 'interrupted' }));
    default:
      return moment;
  }
}

function updated(moment: Moment, { title, model, archived, pinned }: SessionChanges): Moment {
  return {
    ...moment,
    title: title === undefined ? moment.title : title,
    model: model?.model ?? moment.model,
    archived: archived ?? moment.archived,
    pinned: pinned ?? moment.pinned,
  };
}

/** A retry begins with what its origin says. */
function textOf(before: Moment, event: EventRow): Pick<Life, 'submittedText' | 'text'> {
  const text = event.payload?.text ?? before.admissions.get(event.payloadFrom ?? '')?.text ?? '';
  return { submittedText: text, text };
}

function changed(moment: Moment, event: EventRow, change: (life: Life) => Partial<Life>): Moment {
  const life = moment.admissions.get(event.admissionId ?? '');
  return life === undefined ? moment : withLife(moment, event.admissionId, { ...life, ...change(life) });
}

function withLife(moment: Moment, admissionId: string | null, life: Life): Moment {
  return { ...moment, admissions: new Map(moment.admissions).set(admissionId ?? '', life) };
}
