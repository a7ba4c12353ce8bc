import { defineLocal, type Definer } from './define-command.ts';
import type { HomeOptions } from './options.ts';

/** The commands that are a process of their own and need no gateway. */
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

  defineLocal(program, {
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
