import { Option } from 'commander';
import type { ExportOptions } from './commands/export.ts';
import type { SearchOptions } from './commands/search.ts';
import { contextOf, defineRemote, type Definer } from './define-command.ts';
import { readCount, type RemoteOptions } from './options.ts';

/** The commands that only look. */
export function addReadingCommands({ program, io, ended }: Definer): void {
  defineRemote(program, {
    usage: 'status',
    summary: 'how the gateway is',
    description: 'Shows how the gateway is: what runs, what waits, what needs a decision.',
    examples: ['holdfast status', 'holdfast status --json'],
  }).action(async (options: RemoteOptions) => {
    const { runStatus } = await import('./commands/status.ts');
    ended(await runStatus(await contextOf(io, options)));
  });

  defineRemote(program, {
    usage: 'sessions',
    summary: 'list the sessions',
    description: 'Lists the sessions, the one that was made last first.',
    examples: ['holdfast sessions', 'holdfast sessions --limit 200 --json'],
  })
    .addOption(new Option('--limit <n>', 'how many').default(50).argParser(readCount))
    .action(async (options: RemoteOptions & { readonly limit: number }) => {
      const { runSessions } = await import('./commands/sessions.ts');
      ended(await runSessions(await contextOf(io, options), options.limit));
    });

  defineRemote(program, {
    usage: 'show <session>',
    summary: 'show a session with its newest messages',
    description: 'Shows a session: its numbers, its newest messages, its queue.',
    examples: ['holdfast show 0197…', 'holdfast show 0197… --messages 100'],
  })
    .addOption(new Option('--messages <n>', 'how many of the newest messages').default(10).argParser(readCount))
    .action(async (session: string, options: RemoteOptions & { readonly messages: number }) => {
      const { runShow } = await import('./commands/show.ts');
      ended(await runShow(await contextOf(io, options), session, options.messages));
    });

  defineRemote(program, {
    usage: 'lineage <session>',
    summary: "show a session's compressions",
    description: 'Shows the chain of transcripts of a session, and what each of its compressions did.',
    examples: ['holdfast lineage 0197…', 'holdfast lineage 0197… --json'],
  }).action(async (session: string, options: RemoteOptions) => {
    const { runLineage } = await import('./commands/lineage.ts');
    ended(await runLineage(await contextOf(io, options), session));
  });

  defineRemote(program, {
    usage: 'search <query>',
    summary: 'find what was said',
    description:
      'Finds messages that hold all words of the query, newest first, also those that were compressed away. `"Words in quotes"` ' +
      'stand next to each other, `begin*` may go on.',
    examples: ["holdfast search 'database schema'", "holdfast search 'migrat*' --session 0197… --limit 5 --json"],
  })
    .option('--session <id>', 'only in this session')
    .addOption(new Option('--limit <n>', 'how many').default(20).argParser(readCount))
    .action(async (query: string, options: RemoteOptions & Omit<SearchOptions, 'query'>) => {
      const { runSearch } = await import('./commands/search.ts');
      ended(await runSearch(await contextOf(io, options), { query, ...options }));
    });

  defineRemote(program, {
    usage: 'export <session>',
    summary: 'write a session to a file',
    description:
      'Writes everything that was ever said in a session as one document, to stdout or to a file that only you may read. Secrets ' +
      'that the gateway holds are masked.',
    examples: ['holdfast export 0197… --output session.md', 'holdfast export 0197… --format json | jq .entries'],
  })
    .addOption(
      new Option('--format <format>', 'how (default: markdown; json with --json)').choices(['json', 'markdown']),
    )
    .option('--output <file>', 'write it to this file; an existing one is left alone')
    .option('--force', 'replace an existing file')
    .action(async (session: string, options: RemoteOptions & Omit<ExportOptions, 'session'>) => {
      const { runExport } = await import('./commands/export.ts');
      ended(await runExport(await contextOf(io, options), { session, ...options }));
    });
}
