import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { WireReceipt } from '../../protocol/receipt.ts';
import { admissionWords } from '../admission-words.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';
import type { GatewayConnection } from '../gateway-connection.ts';
import { listPrompts } from './queue.ts';

export interface ResolveInput {
  readonly session: string;
  /** Null: the one whose fate is unknown; a session has one at most. */
  readonly admission: string | null;
  /** Null: nobody has decided yet, so what is known is shown. */
  readonly action: 'discard' | 'retry' | null;
}

export async function runResolve(context: CommandContext, input: ResolveInput): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const lost = await findAdmission(connection, input);
    if (input.action === null) throw undecided(lost);
    const { session_id, admission_id, execution_generation } = lost;
    if (execution_generation === null) {
      throw new CliFailure(
        exitCodes.refused,
        'not_unknown',
        `There is nothing to resolve: it is ${admissionWords(lost)}.`,
      );
    }
    const { action } = input;
    // The generation is that of the turn which was looked at: a later turn is never meant.
    const params = { session_id, admission_id, execution_generation, action };
    const { retry, ...receipt } = await connection.call('prompt.resolve_unknown', params);
    printResult(context, { ...receipt, retry }, () => resolvedText(receipt, retry));
    return exitCodes.ok;
  });
}

async function findAdmission(
  connection: GatewayConnection,
  { session, admission }: ResolveInput,
): Promise<WireReceipt> {
  if (admission !== null) return connection.call('prompt.receipt', { session_id: session, admission_id: admission });
  const unknown = (await listPrompts(connection, session, 'open')).find(({ status }) => status === 'unknown');
  if (unknown !== undefined) return unknown;
  const message = 'There is nothing to resolve: no turn of this session is lost.';
  throw new CliFailure(exitCodes.refused, 'not_unknown', message, { details: { retryable: false } });
}

/** Everything that is known, for somebody who has to decide. */
function undecided(lost: WireReceipt): CliFailure {
  const { session_id, admission_id, evidence } = lost;
  const calls = evidence?.open_tool_calls ?? [];
  const lines = [
    `The prompt ${lost.input_id} (admission ${admission_id}): ${admissionWords(lost)}.`,
    ...(evidence === undefined
      ? []
      : [`Its turn began at ${evidence.started_at} and was lost at ${evidence.lost_at}, in step ${evidence.step}.`]),
    ...(calls.length === 0 ? [] : [`Tool calls without a result: ${calls.join(', ')}`]),
    ...(lost.status === 'unknown'
      ? [
          `End it:              holdfast resolve ${session_id} --discard`,
          `End it, run it anew: holdfast resolve ${session_id} --retry`,
        ]
      : []),
  ];
  return new CliFailure(exitCodes.usage, 'undecided', lines.join('\n'), { details: { receipt: lost } });
}

function resolvedText(receipt: WireReceipt, retry: WireReceipt | null): string {
  const lines = [`${receipt.admission_id}  ${admissionWords(receipt)}`];
  if (retry !== null) lines.push(`${retry.admission_id}  ${admissionWords(retry)} (input id ${retry.input_id})`);
  return lines.join('\n');
}
