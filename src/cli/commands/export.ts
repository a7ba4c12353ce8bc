import { resolve } from 'node:path';
import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';
import type { GatewayConnection } from '../gateway-connection.ts';
import { writeOutputFile } from '../output-file.ts';
import { printable } from '../printable.ts';

export interface ExportOptions {
  readonly session: string;
  readonly format?: 'json' | 'markdown';
  /** Without one the document goes to stdout. */
  readonly output?: string;
  readonly force?: boolean;
}

/** Writes a whole session as a document, page by page: a long one never has to fit into memory. */
export async function runExport(context: CommandContext, options: ExportOptions): Promise<ExitCode> {
  const { session, output, force = false } = options;
  const format = options.format ?? (context.json && output === undefined ? 'json' : 'markdown');
  if (output === undefined && context.json && format !== 'json') {
    const message = 'A document in Markdown is no JSON: name a file with --output, or leave out --json.';
    throw new CliFailure(exitCodes.usage, 'usage', message);
  }
  return withConnection(context, async (connection) => {
    const pieces = (): AsyncIterable<string> => piecesOf(connection, session, format);
    if (output === undefined) {
      await show(context, pieces());
      return exitCodes.ok;
    }
    const file = resolve(output);
    const bytes = await writeOutputFile(file, force, pieces);
    const written = { session_id: session, format, output: file, bytes };
    printResult(context, written, () => `The session is in ${file} (${bytes} bytes).`);
    return exitCodes.ok;
  });
}

/**
 * As it is for a file or a program; a terminal gets nothing that could steer it. A slow reader is waited for, and once
 * there is none the rest isn't asked for.
 */
async function show({ io }: CommandContext, pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) {
    io.stdout.write(io.stdout.isTerminal ? printable(piece) : piece);
    if (!(await io.stdout.flushed())) return;
  }
}

async function* piecesOf(
  connection: GatewayConnection,
  session: string,
  format: 'json' | 'markdown',
): AsyncGenerator<string> {
  let cursor: string | null = null;
  do {
    const piece: ResultOf<'session.export'> = await connection.call('session.export', {
      session_id: session,
      format,
      ...(cursor === null ? {} : { cursor }),
    });
    yield piece.text;
    cursor = piece.next_cursor;
  } while (cursor !== null);
}
