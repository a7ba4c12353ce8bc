import { environmentOf } from '../../../src/config/environment.ts';
import type { CliIo } from '../../../src/cli/io.ts';
import { run } from '../../../src/cli/run.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface World {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Whether stdout is a terminal, of 80 columns. */
  readonly terminal?: boolean;
  /** Is given what presses Ctrl-C. */
  readonly onInterruptible?: (press: () => void) => void;
  /** Is told of everything that is written, as it is written. */
  readonly onWrite?: (text: string) => void;
}

/** Runs a command line in this process, in a world of its own. */
export async function runCommand(argv: readonly string[], world: World = {}): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const streamOf = (name: keyof typeof written): CliIo['stdout'] => ({
    write: (text) => {
      written[name] += text;
      world.onWrite?.(text);
    },
    flushed: async () => true,
    failure: null,
    isTerminal: world.terminal === true,
    columns: world.terminal === true ? 80 : Infinity,
  });
  const code = await run(argv, {
    stdout: streamOf('stdout'),
    stderr: streamOf('stderr'),
    environment: environmentOf(world.environment ?? {}),
    readStdin: async () => world.stdin ?? '',
    onInterrupt: (listener) => {
      world.onInterruptible?.(listener);
      return () => undefined;
    },
  });
  return { code, ...written };
}

/** The one JSON document that a command prints with `--json`. */
export function documentOf(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text) as Record<string, unknown>; // every document is an object
}

export function errorOf(text: string): Readonly<Record<string, unknown>> {
  return documentOf(text)['error'] as Record<string, unknown>; // that of an error has one
}
