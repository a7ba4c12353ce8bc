import type { ApprovalResolution } from '../domain/approval/approval.ts';
import { isBefore, millisecondsBetween } from '../domain/instant.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommitListener, Sessions } from './sessions.ts';

type Decision = ApprovalResolution['decision'];

/** What a turn needs of the desk. */
export interface Approvals {
  /**
   * What becomes of a request that is about to be stored. It resolves after the commit that closes the request, and
   * with `closed` when the signal aborts.
   */
  decisionOn(approvalId: string, signal: AbortSignal): Promise<Decision>;
}

/**
 * Waits for the answers to requests for approval on behalf of the turns of this process, and ends those whose time is
 * over. It learns of everything from commits, so it never knows more than the store.
 */
export class ApprovalDesk implements Approvals {
  readonly #deps: { readonly sessions: Sessions; readonly clock: Clock };
  readonly #waiting = new Map<string, Waiting>();

  constructor(deps: { readonly sessions: Sessions; readonly clock: Clock }) {
    this.#deps = deps;
  }

  decisionOn(approvalId: string, signal: AbortSignal): Promise<Decision> {
    return new Promise((resolve) => {
      const timer = new AbortController();
      const end = (decision: Decision): void => {
        this.#waiting.delete(approvalId);
        signal.removeEventListener('abort', abort);
        timer.abort();
        resolve(decision);
      };
      const abort = (): void => {
        end('closed');
      };
      this.#waiting.set(approvalId, { end, timer: timer.signal });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
  }

  readonly observe: CommitListener = (_sessionId, _state, events) => {
    for (const event of events) {
      if (event.type === 'approval.requested') void this.#expireInTime(event);
      if (event.type === 'approval.resolved') this.#waiting.get(event.approvalId)?.end(event.decision);
    }
  };

  async #expireInTime(event: SessionEvent & { type: 'approval.requested' }): Promise<void> {
    const { clock, sessions } = this.#deps;
    const { sessionId, approvalId, expiresAt } = event;
    const timer = this.#waiting.get(approvalId)?.timer;
    // The wall clock may be set back meanwhile: look again when the time seems to have come.
    for (let now = clock.now(); isBefore(now, expiresAt); now = clock.now()) {
      if (timer?.aborted !== false) return;
      await clock.sleep(Math.max(1, Math.min(millisecondsBetween(now, expiresAt), longestWaitMs)), timer);
    }
    if (timer?.aborted === false) await sessions.send(sessionId, { kind: 'expire_approval', approvalId });
  }
}

interface Waiting {
  readonly end: (decision: Decision) => void;
  /** Aborts when nobody waits any more. */
  readonly timer: AbortSignal;
}

const longestWaitMs = 60_000;
