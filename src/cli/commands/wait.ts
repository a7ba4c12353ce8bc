import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { WireReceipt } from '../../protocol/receipt.ts';
import { admissionWords } from '../admission-words.ts';
import { printResult, remark, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';
import type { GatewayConnection } from '../gateway-connection.ts';
import { watchPrompt, type WatchedPrompt } from '../watch-prompt.ts';

export interface WaitInput {
  readonly session: string;
  /** An admission id or an input id. */
  readonly admission: string;
  /** Both in seconds. */
  readonly timeout?: number;
  readonly reconnect: number;
}

export async function runWait(context: CommandContext, input: WaitInput): Promise<ExitCode> {
  const onLost = (): void => remark(context, 'The connection was lost. Looking for the gateway again …');
  return withConnection(
    context,
    async (connection) => {
      const receipt = await findReceipt(connection, input.session, input.admission);
      const timeoutMs = input.timeout === undefined ? Infinity : input.timeout * 1_000;
      return endWith(context, await watchPrompt(context, connection, receipt, timeoutMs));
    },
    { reconnectMs: input.reconnect * 1_000, onLost },
  );
}

/** Says how a prompt ended: the answer has been printed, the rest goes to stderr. Success is `completed` and nothing else. */
export function endWith(context: CommandContext, { receipt, settled, answer }: WatchedPrompt): ExitCode {
  const { session_id: session, admission_id: admission } = receipt;
  if (context.json) printResult(context, { ...receipt, settled, answer }, () => '');
  if (receipt.outcome === 'completed') {
    if (answer === null) remark(context, `Completed. The answer is in: holdfast show ${session}`);
    return exitCodes.ok;
  }
  remark(context, `${capitalised(admissionWords(receipt))}.`);
  if (receipt.status === 'unknown') {
    remark(context, `Its followers wait for you: holdfast resolve ${session} ${admission} --discard, or --retry`);
  } else if (!settled) remark(context, `The time is up; the prompt goes on: holdfast wait ${session} ${admission}`);
  return exitCodes.refused;
}

async function findReceipt(connection: GatewayConnection, session: string, admission: string): Promise<WireReceipt> {
  try {
    return await connection.call('prompt.receipt', { session_id: session, admission_id: admission });
  } catch (error) {
    if (!(error instanceof CliFailure) || error.details['what'] !== 'admission') throw error;
    return connection.call('prompt.receipt', { session_id: session, input_id: admission });
  }
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
