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
  /** Takes the text at once and never fails: `flushed` and `failure` tell what became of it. */
  write(text: string): void;
  /** Waits until everything that was written has left this process. False: nothing more will. */
  flushed(): Promise<boolean>;
  /** Why something could not be written. A reader that had enough, such as `head`, is no failure. */
  readonly failure: Error | null;
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
  let error: NodeJS.ErrnoException | null = null;
  let isUsed = false;
  // Without a listener, the error of a stream ends the process with a stack.
  stream.on('error', (first: NodeJS.ErrnoException) => (error ??= first));
  return {
    write: (chunk) => {
      isUsed = true;
      stream.write(chunk);
    },
    // What others write to the stream, such as the log of a gateway, is theirs to wait for.
    flushed: async () => {
      if (isUsed) await new Promise<void>((resolve) => stream.write('', () => resolve()));
      return error === null;
    },
    get failure() {
      return isUsed && error?.code !== 'EPIPE' ? error : null;
    },
    isTerminal: stream.isTTY,
    columns: stream.isTTY ? stream.columns : Infinity,
  };
}
