import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { WireReceipt } from '../../protocol/receipt.ts';
import { admissionWords } from '../admission-words.ts';
import { printResult, remark, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';
import type { GatewayConnection } from '../gateway-connection.ts';
import { watchPrompt } from '../watch-prompt.ts';
import { endWith } from './wait.ts';

export interface SendInput {
  /** A session's id, or `new`. */
  readonly session: string;
  /** The prompt, or `-` for stdin. */
  readonly text: string;
  readonly inputId?: string;
  readonly wait?: boolean;
  /** Seconds. */
  readonly reconnect: number;
}

/**
 * Sends a prompt. Success always means that the gateway has given its durable receipt. Where the connection is lost
 * before, the failure says that nobody knows, and how to find out without running the prompt twice.
 */
export async function runSend(context: CommandContext, input: SendInput): Promise<ExitCode> {
  const text = input.text === '-' ? await context.io.readStdin() : input.text;
  if (text.trim() === '') throw new CliFailure(exitCodes.usage, 'usage', 'The prompt is empty.');
  const prompt = { session: input.session, text, inputId: input.inputId ?? `cli-${crypto.randomUUID()}` };
  const reconnectMs = input.reconnect * 1_000;
  let receipt: WireReceipt | null = null;
  const onLost = (): void => {
    const fate = receipt === null ? 'not acknowledged yet' : 'acknowledged, and stays where it is';
    remark(context, `The connection was lost. The prompt is ${fate}. Looking for the gateway again …`);
  };
  return withConnection(
    context,
    async (connection) => {
      receipt = await submit(connection, prompt);
      if (input.wait !== true) {
        printResult(context, receipt, () => receiptText(receipt));
        return exitCodes.ok;
      }
      const { admission_id: admission, session_id: session } = receipt;
      remark(context, `Accepted as ${admission} in session ${session}: ${admissionWords(receipt)}.`);
      return endWith(context, await watchPrompt(context, connection, receipt));
    },
    { reconnectMs, onLost },
  );
}

interface Prompt {
  readonly session: string;
  readonly text: string;
  readonly inputId: string;
}

async function submit(connection: GatewayConnection, { session, text, inputId }: Prompt): Promise<WireReceipt> {
  let sessionId: string | null = session === 'new' ? null : session;
  try {
    // The request id follows the input id, so that sending the same prompt again finds the same session.
    sessionId ??= (
      await connection.call('session.create', { request_id: `cli:${inputId}`, source: 'cli', message_limit: 1 })
    ).session_id;
  } catch (error) {
    throw tellFate(error, { session, inputId, wasSent: false });
  }
  try {
    return await connection.call('prompt.submit', { session_id: sessionId, input_id: inputId, text });
  } catch (error) {
    throw tellFate(error, { session: sessionId, inputId, wasSent: true });
  }
}

/** What became of a prompt whose receipt never came. */
function tellFate(
  error: unknown,
  { session, inputId, wasSent }: { readonly session: string; readonly inputId: string; readonly wasSent: boolean },
): unknown {
  if (!(error instanceof CliFailure)) return error;
  const isLost = error.reason === 'connection_lost';
  const inDoubt = wasSent && (isLost || error.details['outcome_unknown'] === true);
  const fate = inDoubt
    ? 'The gateway has not acknowledged the prompt: it may be stored, or not.'
    : isLost
      ? 'The prompt was not sent, so it is not stored.'
      : '';
  const again = `Send it again with the same id, and it is still the same prompt: holdfast send ${session} --input-id ${inputId} …`;
  return new CliFailure(
    error.exitCode,
    error.reason,
    [error.message, ...(fate === '' ? [] : [fate, again])].join('\n'),
    {
      details: {
        ...error.details,
        acknowledged: false,
        outcome_unknown: inDoubt,
        input_id: inputId,
        ...(session === 'new' ? {} : { session_id: session }),
      },
      cause: error,
    },
  );
}

function receiptText(receipt: WireReceipt | null): string {
  if (receipt === null) return '';
  return [
    `session    ${receipt.session_id}`,
    `admission  ${receipt.admission_id}`,
    `input id   ${receipt.input_id}${receipt.duplicate ? ' (known already)' : ''}`,
    `status     ${admissionWords(receipt)}`,
  ].join('\n');
}
