import { CommanderError } from 'commander';
import { exitCodes, type ExitCode } from '../config/exit-codes.ts';
import { CliFailure } from './failure.ts';
import type { CliIo } from './io.ts';
import { printable } from './printable.ts';
import { buildProgram } from './program.ts';

/**
 * Runs one command line and answers its exit code, once everything that it wrote has left this process. Results go to
 * stdout, everything else to stderr.
 */
export async function run(argv: readonly string[], io: CliIo): Promise<number> {
  const json = argv.includes('--json');
  const exitCode = await execute(argv, json, io);
  await io.stdout.flushed();
  const { failure } = io.stdout;
  const ended = failure === null ? exitCode : report(notWritten(failure), json, io);
  await io.stderr.flushed();
  return ended;
}

async function execute(argv: readonly string[], json: boolean, io: CliIo): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const complaints: string[] = [];
  const program = buildProgram({
    io,
    ended: (code) => {
      exitCode = code;
    },
    complain: (text) => complaints.push(text),
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(asFailure(error, complaints.join('')), json, io);
  }
}

function asFailure(error: unknown, complaints: string): CliFailure | null {
  if (error instanceof CliFailure) return error;
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? null : new CliFailure(exitCodes.usage, 'usage', complaints.trim());
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `This is a fault of holdfast itself: ${text}`;
  return new CliFailure(exitCodes.internal, 'internal', message, { cause: error });
}

function notWritten(cause: Error): CliFailure {
  const message = `The output can't be written: ${cause.message}`;
  return new CliFailure(exitCodes.storage, 'not_written', message, { cause });
}

function report(failure: CliFailure | null, json: boolean, io: CliIo): ExitCode {
  if (failure === null) return exitCodes.ok;
  const { exitCode, reason, message, details } = failure;
  io.stderr.write(
    json ? `${JSON.stringify({ error: { reason, message, ...details } }, null, 2)}\n` : `${printable(message)}\n`,
  );
  return exitCode;
}
