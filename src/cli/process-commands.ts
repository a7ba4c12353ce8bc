import type { RestoreCommandOptions } from './commands/restore.ts';
import { contextOf, defineDemo, defineLocal, defineRemote, type Definer } from './define-command.ts';
import type { HomeOptions, RemoteOptions } from './options.ts';

/** The commands about the gateway as a process and its home folder. Most need no gateway. */
export function addProcessCommands({ program, io, ended }: Definer): void {
  defineLocal(program, {
    usage: 'serve',
    summary: 'run the gateway of a home folder',
    description: 'Runs the gateway of a home folder until it gets SIGTERM or SIGINT. With --json its log is JSON.',
    examples: ['holdfast serve', 'holdfast serve --home ./home'],
  }).action(async (options: HomeOptions) => {
    const { runServe } = await import('./commands/serve.ts');
    ended(await runServe(options));
  });

  const config = program
    .command('config')
    .description('look at the configuration')
    .helpOption('--help', 'print this help');

  defineLocal(config, {
    usage: 'check',
    summary: 'look for faults in the configuration',
    description: 'Reads config.yaml and the environment, and lists everything that is wrong. It starts nothing.',
    examples: ['holdfast config check', 'holdfast config check --home ./home --json'],
  }).action(async (options: HomeOptions) => {
    const { runConfigCheck } = await import('./commands/config-check.ts');
    ended(runConfigCheck(io, options));
  });

  defineRemote(program, {
    usage: 'backup <file>',
    summary: 'copy the store to a file, while the gateway runs or not',
    description:
      'Copies the store to a new file and checks the copy. The gateway does it while everything goes on; where none runs, this command does.',
    examples: ['holdfast backup /backups/holdfast-monday.db', 'holdfast backup ./before-the-upgrade.db --json'],
  }).action(async (file: string, options: RemoteOptions) => {
    const { runBackup } = await import('./commands/backup.ts');
    ended(await runBackup(await contextOf(io, options), file, options));
  });

  defineLocal(program, {
    usage: 'restore [file]',
    summary: 'put a backup back, or accept a store that lost something',
    description:
      'Puts a backup in the place of the store, or, with --accept-loss, goes on with a store that has lost its newest work. No gateway may run, and the home folder must be there. What was there before is kept in a folder beside it, and clients take fresh snapshots.',
    examples: ['holdfast restore /backups/holdfast-monday.db', 'holdfast restore --accept-loss --json'],
  })
    .option('--accept-loss', 'go on with the store as it is, without what is missing from it')
    .action(async (file: string | undefined, options: RestoreCommandOptions) => {
      const { runRestore } = await import('./commands/restore.ts');
      ended(await runRestore(io, file, options));
    });

  defineDemo(program, {
    usage: 'demo',
    summary: 'watch a queue survive compression and a kill',
    description:
      'Runs the journey that Holdfast exists for against a real gateway, kill included, and tells it step by step.',
    examples: ['holdfast demo'],
  }).action(async (options: HomeOptions) => {
    const { runDemo } = await import('./commands/demo.ts');
    ended(await runDemo(options));
  });
}
