import type { Clock } from '../ports/clock.ts';
import { StorageError } from '../ports/ledger.ts';
import type { Ledger } from '../ports/ledger.ts';

/** How often a read is tried while the storage is busy, before that counts as a failure of the storage. */
const maxTries = 20;

/** The ledger with reads that wait while the storage is busy: a turn has no client to send away. */
export function patientReads(ledger: Ledger, clock: Clock): Pick<Ledger, 'readPayload' | 'readTranscript'> {
  return {
    readPayload: (...args) => patiently(() => ledger.readPayload(...args)),
    readTranscript: (...args) => patiently(() => ledger.readTranscript(...args)),
  };

  async function patiently<T>(read: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof StorageError) || !error.retryable || attempt >= maxTries) throw error;
        await clock.sleep(Math.min(50 * 2 ** attempt, 2000));
      }
    }
  }
}
