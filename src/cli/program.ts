import { Command, type AddHelpTextContext } from 'commander';
import { readVersion } from '../config/version.ts';
import type { CliIo } from './io.ts';
import { addProcessCommands } from './process-commands.ts';
import { addPromptCommands } from './prompt-commands.ts';
import { addReadingCommands } from './reading-commands.ts';

export interface ProgramDependencies {
  readonly io: CliIo;
  /** Takes the exit code of the command that ran. */
  readonly ended: (exitCode: number) => void;
  /** Takes what is wrong with the command line, piece by piece. */
  readonly complain: (text: string) => void;
}

/** The whole command line. It throws commander's error instead of ending the process. */
export function buildProgram({ io, ended, complain }: ProgramDependencies): Command {
  // Commands inherit these settings, so they come before them.
  const program = new Command('holdfast')
    .description('A durable session gateway for language-model agents: no prompt lost, none reordered, none run twice.')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: complain })
    .showHelpAfterError('(--help after any command says what it takes)')
    .addHelpText('beforeAll', refuseUnknownCommand)
    .addHelpText('after', afterHelp);
  addProcessCommands({ program, io, ended });
  addReadingCommands({ program, io, ended });
  addPromptCommands({ program, io, ended });
  return program;
}

/** Without this, the help of a command that doesn't exist is that of the program, as if all were well. */
function refuseUnknownCommand({ command }: AddHelpTextContext): string {
  const word = command.args.find((argument) => argument !== '--help');
  if (command.commands.length === 0 || word === undefined || word.startsWith('-')) return '';
  if (command.commands.every((known) => known.name() !== word)) command.parse([word], { from: 'user' }); // throws
  return '';
}

const afterHelp = `
Exit codes:
  0   done
  1   the gateway refused, or the prompt ended in another way than completed
  2   the command line was not understood
  69  no gateway can be reached, or the connection was lost
  78  the configuration is wrong
  70  a fault of holdfast itself
  74  the storage, or a file or an output that can't be written
  75  another gateway has the home folder
  130 stopped by Ctrl-C

To begin with:
  $ holdfast demo
  $ holdfast serve &
  $ holdfast send new 'Hello' --wait`;
