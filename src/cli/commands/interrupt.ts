import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';

/** Stops the turn that runs at this moment, and never the one after it: the call carries its generation. */
export async function runInterrupt(context: CommandContext, session: string): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const { running, blocked_by, ...snapshot } = await connection.call('session.resume', {
      session_id: session,
      message_limit: 1,
    });
    if (running === null && !blocked_by.includes('compressing')) {
      const message = 'No turn of this session runs.';
      throw new CliFailure(exitCodes.refused, 'turn_over', message, { details: { retryable: false } });
    }
    const { execution_generation } = running ?? snapshot;
    const stopped = await connection.call('session.interrupt', { session_id: session, execution_generation });
    printResult(context, stopped, () =>
      stopped.admission_id === null
        ? 'The compression was stopped; the transcript is as it was.'
        : `The turn of ${stopped.admission_id} will stop; it never ends as completed. The next prompt runs after it.`,
    );
    return exitCodes.ok;
  });
}
