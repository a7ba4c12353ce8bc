import type { Clock } from '../ports/clock.ts';
import { StorageError } from '../ports/ledger.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Sessions } from './sessions.ts';
import type { Transcripts } from './transcripts.ts';

/** How often a read is tried while the storage is busy, before that counts as a failure of the storage. */
const maxTries = 20;

/**
 * Reads on behalf of somebody who has no client to send away: while the storage is busy it waits and reads again, until
 * `stopped` aborts. Then what the storage has said is thrown, and `isCutShort` tells it from a failure.
 */
export async function patiently<T>(clock: Clock, stopped: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!isPassing(error) || attempt >= maxTries || stopped.aborted) throw error;
      await clock.sleep(Math.min(50 * 2 ** attempt, 2000), stopped);
    }
  }
}

/** Whether a read failed only because its reader was told to stop and would not wait any longer. */
export function isCutShort(error: unknown, stopped: AbortSignal): boolean {
  return stopped.aborted && isPassing(error);
}

function isPassing(error: unknown): boolean {
  return error instanceof StorageError && error.retryable;
}

interface Reads {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly ledger: Pick<Ledger, 'readPayload'>;
  readonly transcripts: Transcripts;
}

/** The same dependencies with reads that are patient. `stopped` is asked anew for each wait. */
export function withPatientReads<D extends Reads>(deps: D, stopped: () => AbortSignal): D {
  const { clock, sessions, ledger, transcripts } = deps;
  const wait = <T>(read: () => Promise<T>): Promise<T> => patiently(clock, stopped(), read);
  return {
    ...deps,
    sessions: {
      send: (sessionId, command) => sessions.send(sessionId, command),
      idOf: (anyId, principalId) => wait(() => sessions.idOf(anyId, principalId)),
      state: (sessionId) => wait(() => sessions.state(sessionId)),
    } satisfies Sessions,
    ledger: { readPayload: (admissionId: string) => wait(() => ledger.readPayload(admissionId)) },
    transcripts: {
      read: (state) => wait(() => transcripts.read(state)),
      observe: transcripts.observe,
    } satisfies Transcripts,
  };
}
