/** What a selection asks of the servers: all tools of some, single tools of others. */
export interface Selection {
  /** For each server that is asked: the tools, or `all`. */
  readonly wanted: ReadonlyMap<string, ReadonlySet<string> | 'all'>;
  /** Entries that name no known server. */
  readonly unknown: readonly string[];
}

/**
 * Reads entries of the forms `server` and `server.tool`. Names of tools may have dots in them, and so may those of
 * servers: the longest server name that fits wins.
 */
export function readSelection(entries: readonly string[], servers: readonly string[]): Selection {
  const wanted = new Map<string, Set<string> | 'all'>();
  const unknown: string[] = [];
  const longestFirst = [...servers].sort((a, b) => b.length - a.length);
  for (const entry of entries) {
    const server = longestFirst.find((name) => entry === name || entry.startsWith(`${name}.`));
    if (server === undefined) unknown.push(entry);
    else if (entry === server) wanted.set(server, 'all');
    else addTool(wanted, server, entry.slice(server.length + 1));
  }
  return { wanted, unknown };
}

function addTool(wanted: Map<string, Set<string> | 'all'>, server: string, tool: string): void {
  const tools = wanted.get(server);
  if (tools === 'all') return;
  wanted.set(server, new Set([...(tools ?? []), tool]));
}
