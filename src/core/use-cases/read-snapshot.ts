import { evolve } from '../domain/session/evolve.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import { startedAdmission } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventHub } from '../ports/event-hub.ts';
import { StorageError } from '../ports/ledger.ts';
import type { SessionQueries, SnapshotPage } from '../ports/session-queries.ts';
import type { ReportContext } from './context-report.ts';
import type { Partial, PendingPrompt, ReadSnapshot } from './resume-session.ts';
import type { Sessions } from './sessions.ts';

export interface ReadSnapshotDependencies {
  readonly sessions: Sessions;
  readonly queries: Pick<SessionQueries, 'snapshot'>;
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly reportContext: ReportContext;
  readonly partialOf: (sessionId: string) => Partial | null;
}

/** How long a commit that was read may take until this process hears of it, in milliseconds. */
const maxTellingMs = 5_000;

/** How often the store is read so that a step which was stored meanwhile doesn't hide what the next one says. */
const maxReads = 3;

/**
 * A read of the store says after which event it was. The state of that event follows from the one before the read and
 * from what is committed meanwhile, so that a session which never rests has its snapshot like any other.
 */
export function makeReadSnapshot(deps: ReadSnapshotDependencies): ReadSnapshot {
  return async ({ sessionId, messageLimit, before }) => {
    const commits = new Commits(deps.hub, sessionId);
    try {
      const first = await deps.sessions.state(sessionId);
      if (first === null || first.deletedAt !== null) return null;
      for (let reads = 1; ; reads += 1) {
        const page = await deps.queries.snapshot({ sessionId, before, limit: messageLimit });
        if (page === null) return null;
        await commits.reach(first.seq, page.lastSeq, deps.clock);
        const state = commits.stateAt(page.lastSeq, first);
        const partial = deps.partialOf(sessionId);
        const isOfLaterStep = commits.hasMessageAfter(state.seq);
        if (partial !== null && isOfLaterStep && reads < maxReads) continue;
        return {
          state,
          messages: page.messages,
          moreMessages: page.moreMessages,
          pending: pendingOf(state, page),
          approvals: page.approvals,
          partial: belongsTo(state, partial) && !isOfLaterStep ? partial : null,
          context: deps.reportContext(state),
        };
      }
    } finally {
      commits.stop();
    }
  };
}

/** What is committed in a session, from now on. */
class Commits {
  readonly stop: () => void;
  readonly #events: SessionEvent[] = [];
  #heard: () => void = () => undefined;

  constructor(hub: EventHub, sessionId: string) {
    this.stop = hub.listen(sessionId, {
      durable: (events) => {
        this.#events.push(...events);
        this.#heard();
      },
      live: () => undefined,
    });
  }

  get newestSeq(): number {
    return this.#events.at(-1)?.seq ?? 0;
  }

  /** Whether what a turn has said since is of a later step than the one that runs in that state. */
  hasMessageAfter(seq: number): boolean {
    return this.#events.some((event) => event.seq > seq && event.type === 'message.appended');
  }

  /** Waits until this process has heard of an event that is stored: it may be told a moment later. */
  async reach(known: number, seq: number, clock: Clock): Promise<void> {
    if (Math.max(known, this.newestSeq) >= seq) return;
    const over = new AbortController();
    const told = new Promise<void>((resolve) => {
      this.#heard = () => {
        if (this.newestSeq >= seq) resolve();
      };
    });
    await Promise.race([told, clock.sleep(maxTellingMs, over.signal)]);
    over.abort();
  }

  /** Throws a `StorageError` of kind `busy` where somebody else has written what this process doesn't know. */
  stateAt(seq: number, first: SessionState): SessionState {
    const since = this.#events.filter((event) => event.seq > first.seq && event.seq <= seq);
    if (first.seq + since.length !== seq) throw new StorageError('busy', 'The session was changed by somebody else');
    return since.reduce<SessionState>(evolve, first);
  }
}

/** The open admissions of the state, in queue order, with what was read of their contents. */
function pendingOf(state: SessionState, page: SnapshotPage): readonly PendingPrompt[] {
  const contents = new Map(page.pending.map(({ admissionId, content }) => [admissionId, content]));
  return state.open.map((admission) => ({ admission, content: contents.get(admission.admissionId) }));
}

/** Only what the turn that runs in this state says belongs to it. */
function belongsTo(state: SessionState, partial: Partial | null): boolean {
  return startedAdmission(state)?.executionGeneration === partial?.executionGeneration;
}
