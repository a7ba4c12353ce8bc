import type { Failpoints } from '../ports/failpoints.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Logger } from '../ports/logger.ts';
import type { Sessions } from './sessions.ts';

export interface RecoveryReport {
  readonly sessions: number;
  readonly requeued: number;
  readonly lost: number;
  readonly ended: number;
}

/**
 * Puts right what the last owner left behind, before any client is served. It may die and be repeated at any point:
 * each session is recovered in one append, and a recovered session has nothing left to recover.
 *
 * Returns null when the sessions have been halted, because the storage failed or the process is told to stop.
 */
export async function recover(deps: {
  readonly unfinished: Ledger['unfinished'];
  readonly sessions: Sessions;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  readonly onUnknown: 'hold' | 'discard';
}): Promise<RecoveryReport | null> {
  const { sessions, failpoints, logger, onUnknown } = deps;
  await failpoints.hit('recovery.before');
  const unfinished = await deps.unfinished();
  const total = { sessions: unfinished.length, requeued: 0, lost: 0, ended: 0 };
  for (const sessionId of unfinished) {
    const sent = await sessions.send(sessionId, { kind: 'recover', onUnknown });
    if (sent.kind === 'unavailable') return null;
    if (sent.kind === 'refused') {
      logger.error('a session could not be recovered', { sessionId, reason: sent.refusal.reason });
      continue;
    }
    total.requeued += sent.reply.requeued;
    total.lost += sent.reply.lost;
    total.ended += sent.reply.ended;
    await failpoints.hit('recovery.session');
  }
  await failpoints.hit('recovery.after');
  return total;
}
