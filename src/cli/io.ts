import { readEnvironment, type Environment } from '../config/environment.ts';

/** The world of one command. Tests bring their own. */
export interface CliIo {
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  readonly environment: Environment;
  readStdin(): Promise<string>;
  /** Calls back at Ctrl-C until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
}

interface CliStream {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** How many characters fit a line. */
  readonly columns: number;
}

export function processIo(): CliIo {
  return {
    stdout: streamOf(process.stdout),
    stderr: streamOf(process.stderr),
    environment: readEnvironment(),
    readStdin,
    onInterrupt(listener) {
      process.on('SIGINT', listener);
      return () => process.off('SIGINT', listener);
    },
  };
}

async function readStdin(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
}

function streamOf(stream: NodeJS.WriteStream): CliStream {
  // A reader such as `head` that has enough is no fault of this program.
  stream.on('error', () => undefined);
  return {
    write: (chunk) => {
      stream.write(chunk);
    },
    isTerminal: stream.isTTY,
    columns: stream.isTTY ? stream.columns : Infinity,
  };
}
