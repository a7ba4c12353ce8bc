import { Option } from 'commander';
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
    description: 'Lists the sessions, the one that changed last first.',
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
}
