import { exitCodes } from '../config/exit-codes.ts';
import type { WireReceipt } from '../protocol/receipt.ts';
import type { CommandContext } from './command-context.ts';
import { CliFailure } from './failure.ts';
import type { GatewayConnection } from './gateway-connection.ts';
import { WatchedAnswer } from './watched-answer.ts';

export interface WatchedPrompt {
  /** Its last receipt: terminal, unknown, or as it was when the time was up. */
  readonly receipt: WireReceipt;
  readonly settled: boolean;
  /** The last thing that the model said in its turn; null when it said nothing or it can't be found any more. */
  readonly answer: string | null;
}

/** One call waits no longer than this; then it is made again. */
const oneWaitMs = 60_000;

/**
 * Waits for the end of a prompt that was accepted, through restarts of the gateway too, and streams its answer to
 * stdout. Ctrl-C ends the waiting and not the turn.
 */
export async function watchPrompt(
  context: CommandContext,
  connection: GatewayConnection,
  accepted: WireReceipt,
  timeoutMs = Infinity,
): Promise<WatchedPrompt> {
  const { session_id, admission_id } = accepted;
  const answer = new WatchedAnswer(context, admission_id);
  const untilMs = context.nowMs() + timeoutMs;
  let wasInterrupted = false;
  const stopListening = context.io.onInterrupt(() => {
    wasInterrupted = true;
    connection.close();
  });
  try {
    const { snapshot, events } = await connection.follow({ session_id, message_limit: 1 });
    answer.begin(snapshot);
    // A feed that ends early costs the stream and not the answer: that is read at the end.
    void events.forEach((event) => answer.take(event)).catch(() => undefined);
    for (;;) {
      const timeout_ms = Math.max(0, Math.min(oneWaitMs, Math.ceil(untilMs - context.nowMs())));
      const { settled, ...receipt } = await connection.call('prompt.wait', { session_id, admission_id, timeout_ms });
      if (!settled && receipt.status !== 'unknown' && context.nowMs() < untilMs) continue;
      return {
        receipt,
        settled,
        answer: answer.end(await connection.call('session.resume', { session_id, message_limit: 100 })),
      };
    }
  } catch (error) {
    answer.stop();
    throw wasInterrupted ? interruption(accepted) : acknowledgedLoss(error, accepted);
  } finally {
    stopListening();
  }
}

function interruption({ session_id, admission_id, input_id }: WireReceipt): CliFailure {
  const message = `The prompt goes on without you: holdfast wait ${session_id} ${admission_id}, or holdfast interrupt ${session_id}`;
  const details = { acknowledged: true, session_id, admission_id, input_id };
  return new CliFailure(exitCodes.interrupted, 'interrupted', message, { details });
}

function acknowledgedLoss(error: unknown, { session_id, admission_id, input_id }: WireReceipt): unknown {
  if (!(error instanceof CliFailure) || error.reason !== 'connection_lost') return error;
  const message = `${error.message}\nThe prompt is acknowledged: it stays where it is, whatever becomes of the gateway. Then: holdfast wait ${session_id} ${admission_id}`;
  const details = { ...error.details, acknowledged: true, session_id, admission_id, input_id };
  return new CliFailure(error.exitCode, error.reason, message, { details, cause: error });
}
