import type { Command, Option } from 'commander';
import type { CommandContext } from './command-context.ts';
import type { CliIo } from './io.ts';
import { homeOption, homeOptions, jsonOption, remoteOptions, type RemoteOptions } from './options.ts';

/** What the definitions of commands are made with. What a command does is imported only when it is called. */
export interface Definer {
  readonly io: CliIo;
  /** Takes the exit code of the command that ran. */
  readonly ended: (exitCode: number) => void;
  readonly program: Command;
}

export interface CommandText {
  /** The name and the arguments. */
  readonly usage: string;
  /** For the list of all commands. */
  readonly summary: string;
  readonly description: string;
  readonly examples: readonly string[];
}

/** A command on this machine: it needs a home folder and no gateway. */
export function defineLocal(parent: Command, text: CommandText): Command {
  return define(parent, text, homeOptions());
}

/** The demo makes its own home folder: `--home` is known only to be told so. */
export function defineDemo(parent: Command, text: CommandText): Command {
  return define(parent, text, [homeOption().hideHelp(), jsonOption()]);
}

/** A command that talks to a gateway. */
export function defineRemote(parent: Command, text: CommandText): Command {
  return define(parent, text, remoteOptions());
}

export async function contextOf(io: CliIo, options: RemoteOptions): Promise<CommandContext> {
  const { connectTo } = await import('./gateway-connection.ts');
  return {
    io,
    json: options.json === true,
    connect: (how = {}) => connectTo(options, io.environment, how),
    nowMs: () => Date.now(),
  };
}

function define(
  parent: Command,
  { usage, summary, description, examples }: CommandText,
  options: readonly Option[],
): Command {
  const command = parent
    .command(usage)
    .summary(summary)
    .description(description)
    .helpOption('--help', 'print this help')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`);
  for (const option of options) command.addOption(option);
  return command;
}
