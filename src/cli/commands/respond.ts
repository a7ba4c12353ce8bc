import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';

/** Answers a tool call that waits. */
export async function runRespond(
  context: CommandContext,
  input: { readonly session: string; readonly approval: string; readonly answer: 'approve' | 'deny' },
): Promise<ExitCode> {
  const { session, approval, answer } = input;
  return withConnection(context, async (connection) => {
    const answered = await connection.call('approval.respond', {
      session_id: session,
      approval_id: approval,
      answer,
    });
    const { name, resolution } = answered;
    const consequence = answer === 'approve' ? 'it runs' : 'it does not run, and the turn goes on without it';
    printResult(context, answered, () => `${name} was ${resolution.decision} by ${resolution.by}: ${consequence}.`);
    return exitCodes.ok;
  });
}
