import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, remark, withConnection, type CommandContext } from '../command-context.ts';
import { renderTable } from '../table.ts';
import { ago } from '../time-words.ts';

type Page = ResultOf<'session.search'>;

/** The gateway gives no larger page. */
const largestPage = 100;

export interface SearchOptions {
  readonly query: string;
  /** Only this session. */
  readonly session?: string;
  readonly limit: number;
}

/** Finds messages in everything that was ever said. */
export async function runSearch(context: CommandContext, { query, session, limit }: SearchOptions): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const hits: Page['hits'] = [];
    let cursor: string | null = null;
    let behind = false;
    do {
      const page: Page = await connection.call('session.search', {
        query,
        limit: Math.min(limit - hits.length, largestPage),
        ...(session === undefined ? {} : { session_id: session }),
        ...(cursor === null ? {} : { cursor }),
      });
      hits.push(...page.hits);
      cursor = page.next_cursor;
      behind ||= page.behind;
    } while (cursor !== null && hits.length < limit);
    printResult(context, { hits, next_cursor: cursor, behind }, () => hitsText(context, hits));
    if (cursor !== null) remark(context, `There are more: --limit ${limit * 2}`);
    if (behind)
      remark(
        context,
        "The index is still catching up, or is not available (the gateway's log says which): messages may be missing.",
      );
    return exitCodes.ok;
  });
}

function hitsText({ io, nowMs }: CommandContext, hits: Page['hits']): string {
  if (hits.length === 0) return 'Nothing was found.';
  const rows = hits.map((hit) => [
    hit.session_id,
    String(hit.message_id),
    ago(hit.at, nowMs()),
    hit.role,
    `${hit.snippet}${hit.truncated === true ? ' …' : ''}`,
  ]);
  return renderTable(['SESSION', 'MESSAGE', 'SAID', 'BY', 'TEXT'], rows, io.stdout.columns);
}
