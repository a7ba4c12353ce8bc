import type { Clock } from '../../../core/ports/clock.ts';
import type { BuiltinTool } from './builtin-tool.ts';
import { makeSearchHistoryTool } from './search-history-tool.ts';
import type { SearchedQueries } from './search-history-tool.ts';
import { makeTimeTool } from './time-tool.ts';

/** The tools that the gateway has by itself. Their names have no `__` in them, so they never meet a server's tool. */
export function makeBuiltinTools(deps: {
  readonly clock: Clock;
  readonly queries: SearchedQueries;
}): readonly BuiltinTool[] {
  return [makeTimeTool(deps.clock), makeSearchHistoryTool(deps.queries)];
}
