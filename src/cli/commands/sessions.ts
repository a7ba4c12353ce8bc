import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import type { WireSessionSummary } from '../../protocol/snapshot.ts';
import { printResult, remark, withConnection, type CommandContext } from '../command-context.ts';
import { renderTable } from '../table.ts';
import { ago } from '../time-words.ts';

/** The gateway gives no larger page. */
const largestPage = 200;

export async function runSessions(context: CommandContext, limit: number): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const sessions: WireSessionSummary[] = [];
    let cursor: string | null = null;
    do {
      const page: ResultOf<'session.list'> = await connection.call('session.list', {
        limit: Math.min(limit - sessions.length, largestPage),
        ...(cursor === null ? {} : { cursor }),
      });
      sessions.push(...page.sessions);
      cursor = page.next_cursor;
    } while (cursor !== null && sessions.length < limit);
    printResult(context, { sessions, next_cursor: cursor }, () => sessionsText(context, sessions));
    if (cursor !== null) remark(context, `There are more: --limit ${limit * 2}`);
    return exitCodes.ok;
  });
}

function sessionsText({ io, nowMs }: CommandContext, sessions: readonly WireSessionSummary[]): string {
  if (sessions.length === 0) return "There is no session yet. Make one: holdfast send new 'Hello' --wait";
  const rows = sessions.map((session) => [
    session.session_id,
    ago(session.updated_at, nowMs()),
    stateWords(session),
    String(session.message_count),
    String(session.compressions),
    session.title ?? '(no title)',
  ]);
  return renderTable(['SESSION', 'CHANGED', 'STATE', 'MESSAGES', 'COMPRESSIONS', 'TITLE'], rows, io.stdout.columns);
}

function stateWords({ started, queued, unknown, held }: WireSessionSummary): string {
  const words = [
    ...(unknown > 0 ? ['needs a decision'] : []),
    ...(held ? ['held'] : []),
    ...(started > 0 ? ['running'] : []),
    ...(queued > 0 ? [`${queued} queued`] : []),
  ];
  return words.length === 0 ? 'idle' : words.join(', ');
}
