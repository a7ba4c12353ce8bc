import { isBefore, millisecondsBetween } from '../domain/instant.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Sessions } from './sessions.ts';

/**
 * Releases holds that end by themselves. It learns of them from commits, and of those of an earlier process when their
 * sessions are looked at after recovery, so that a hold outlives a restart and still ends.
 */
export class HoldTimer {
  readonly #deps: { readonly sessions: Sessions; readonly clock: Clock };
  /** The instant that is waited for, by session. */
  readonly #waiting = new Map<string, string>();

  constructor(deps: { readonly sessions: Sessions; readonly clock: Clock }) {
    this.#deps = deps;
  }

  consider(sessionId: string, state: SessionState): void {
    const until = state.hold?.until ?? null;
    if (until === null) {
      this.#waiting.delete(sessionId);
      return;
    }
    if (this.#waiting.get(sessionId) === until) return;
    this.#waiting.set(sessionId, until);
    void this.#release(sessionId, until);
  }

  async #release(sessionId: string, until: string): Promise<void> {
    const { clock, sessions } = this.#deps;
    // The wall clock may be set back meanwhile: look again when the time seems to have come.
    for (let now = clock.now(); isBefore(now, until); now = clock.now()) {
      await clock.sleep(Math.max(1, Math.min(millisecondsBetween(now, until), longestWaitMs)));
      if (this.#waiting.get(sessionId) !== until) return;
    }
    for (;;) {
      const sent = await sessions.send(sessionId, { kind: 'release', by: 'timer', until });
      if (sent.kind !== 'unavailable' || sent.outcomeUnknown) break;
      await clock.sleep(storageRetryMs);
    }
    if (this.#waiting.get(sessionId) === until) this.#waiting.delete(sessionId);
  }
}

const longestWaitMs = 60_000;
/** Between two tries while the storage is full or busy. */
const storageRetryMs = 2000;
