import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { admissionWords } from '../admission-words.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';
import type { GatewayConnection } from '../gateway-connection.ts';

export interface SteerInput {
  readonly session: string;
  /** What to say, or `-` for stdin. */
  readonly text: string;
  readonly inputId?: string;
  /** Of the turn that is meant; left out, the one that runs. */
  readonly generation?: number;
  readonly ifOver?: 'cancel' | 'queue';
}

/** Says something to the turn that runs, and never to the one after it: the call carries its generation. */
export async function runSteer(context: CommandContext, input: SteerInput): Promise<ExitCode> {
  const text = input.text === '-' ? await context.io.readStdin() : input.text;
  if (text.trim() === '') throw new CliFailure(exitCodes.usage, 'usage', 'There is nothing to say.');
  const { session, ifOver, inputId = `cli-${crypto.randomUUID()}` } = input;
  return withConnection(context, async (connection) => {
    const generation = input.generation ?? (await runningGeneration(connection, session));
    const receipt = await connection
      .call('session.steer', {
        session_id: session,
        execution_generation: generation,
        input_id: inputId,
        text,
        ...(ifOver === undefined ? {} : { if_over: ifOver }),
      })
      .catch((error: unknown) => {
        throw withTheWayBack(error, { session, inputId, generation });
      });
    printResult(context, receipt, () => `${receipt.admission_id}  ${admissionWords(receipt)} (input id ${inputId})`);
    return exitCodes.ok;
  });
}

async function runningGeneration(connection: GatewayConnection, session: string): Promise<number> {
  const { running } = await connection.call('session.resume', { session_id: session, message_limit: 1 });
  if (running !== null) return running.execution_generation;
  const message = `No turn of this session runs. Send a prompt instead: holdfast send ${session} …`;
  throw new CliFailure(exitCodes.refused, 'turn_over', message, { details: { retryable: false } });
}

/** Where nobody knows whether it was taken, the same ids make sure that it is said once. */
function withTheWayBack(error: unknown, steer: { session: string; inputId: string; generation: number }): unknown {
  if (!(error instanceof CliFailure)) return error;
  if (error.reason !== 'connection_lost' && error.details['outcome_unknown'] !== true) return error;
  const { session, inputId, generation } = steer;
  const again = `holdfast steer ${session} --generation ${generation} --input-id ${inputId} …`;
  return new CliFailure(
    error.exitCode,
    error.reason,
    `${error.message}\nNobody knows whether it was taken. Send it again with the same ids, and it is said once: ${again}`,
    { details: { ...error.details, outcome_unknown: true, input_id: inputId, generation }, cause: error },
  );
}
