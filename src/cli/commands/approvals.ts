import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { WireOpenApproval } from '../../protocol/approval.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import type { GatewayConnection } from '../gateway-connection.ts';
import { renderTable } from '../table.ts';
import { ago } from '../time-words.ts';

/** The tool calls that wait for an answer, of one session or of all. */
export async function runApprovals(context: CommandContext, session: string | null): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const list = await listApprovals(connection, session);
    printResult(context, list, () => approvalsText(context, list.approvals) ?? 'No call waits for an approval.');
    return exitCodes.ok;
  });
}

export function listApprovals(
  connection: GatewayConnection,
  session: string | null,
): Promise<ResultOf<'approval.list'>> {
  return connection.call('approval.list', { limit: 200, ...(session === null ? {} : { session_id: session }) });
}

/** Null when nothing waits. */
export function approvalsText({ io, nowMs }: CommandContext, approvals: readonly WireOpenApproval[]): string | null {
  if (approvals.length === 0) return null;
  const rows = approvals.map((approval) => [
    approval.session_id,
    approval.approval_id,
    ago(approval.requested_at, nowMs()),
    approval.expires_at,
    `${approval.name} ${approval.arguments ?? '(deleted)'}`,
  ]);
  return renderTable(['SESSION', 'APPROVAL', 'ASKED', 'EXPIRES', 'CALL'], rows, io.stdout.columns);
}
