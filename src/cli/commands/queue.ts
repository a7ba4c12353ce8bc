import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { admissionWords } from '../admission-words.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import type { GatewayConnection } from '../gateway-connection.ts';
import { renderTable } from '../table.ts';
import { ago } from '../time-words.ts';
import { approvalsText, listApprovals } from './approvals.ts';

export type ListedPrompt = ResultOf<'prompt.list'>['prompts'][number];

export async function runQueue(context: CommandContext, session: string, include: 'open' | 'all'): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const prompts = await listPrompts(connection, session, include);
    // Only a turn that runs can have calls that wait.
    const runs = prompts.some(({ status }) => status === 'started');
    const approvals = runs ? (await listApprovals(connection, session)).approvals : [];
    printResult(context, { session_id: prompts[0]?.session_id ?? session, prompts, approvals }, () => {
      const waiting = approvalsText(context, approvals);
      return `${queueText(context, prompts)}${waiting === null ? '' : `\n\n${waiting}`}`;
    });
    return exitCodes.ok;
  });
}

/** All of them, page by page: the gateway limits how many wait. */
export async function listPrompts(
  connection: GatewayConnection,
  session: string,
  include: 'open' | 'all',
): Promise<readonly ListedPrompt[]> {
  const prompts: ListedPrompt[] = [];
  let cursor: string | null = null;
  do {
    const page: ResultOf<'prompt.list'> = await connection.call('prompt.list', {
      session_id: session,
      include,
      limit: 200,
      ...(cursor === null ? {} : { cursor }),
    });
    prompts.push(...page.prompts);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return prompts;
}

export function queueText({ io, nowMs }: CommandContext, prompts: readonly ListedPrompt[]): string {
  if (prompts.length === 0) return 'Nothing waits and nothing runs.';
  const rows = prompts.map((prompt) => [
    String(prompt.sequence),
    prompt.admission_id,
    prompt.input_id,
    ago(prompt.accepted_at, nowMs()),
    admissionWords(prompt),
    prompt.text ?? '(deleted)',
  ]);
  return renderTable(['#', 'ADMISSION', 'INPUT ID', 'ACCEPTED', 'STATUS', 'TEXT'], rows, io.stdout.columns);
}
