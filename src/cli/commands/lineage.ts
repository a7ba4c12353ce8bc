import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { renderTable } from '../table.ts';
import { ago } from '../time-words.ts';

type Lineage = ResultOf<'session.lineage'>;

/** The chain of a session's transcripts, and what its compressions did. */
export async function runLineage(context: CommandContext, session: string): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const lineage = await connection.call('session.lineage', { session_id: session });
    printResult(context, lineage, () => lineageText(context, lineage));
    return exitCodes.ok;
  });
}

function lineageText({ io, nowMs }: CommandContext, lineage: Lineage): string {
  const transcripts = lineage.transcripts.map(({ id, started_at, ended_at, end_reason, message_count }) => [
    id,
    ago(started_at, nowMs()),
    String(message_count),
    id === lineage.stored_session_id
      ? 'open'
      : `closed ${ended_at === null ? '' : ago(ended_at, nowMs())} (${end_reason ?? 'unknown'})`,
  ]);
  const compressions = lineage.compressions.map((compression) => [
    compression.compression_id,
    ago(compression.started_at, nowMs()),
    compression.trigger,
    String(compression.tokens_before),
    String(compression.tokens_after ?? '–'),
    compression.parent_transcript,
    outcomeWords(compression),
  ]);
  return [
    `session      ${lineage.session_id}`,
    '',
    renderTable(['TRANSCRIPT', 'BEGUN', 'MESSAGES', 'STATE'], transcripts, io.stdout.columns),
    '',
    compressions.length === 0
      ? 'It was never compressed.'
      : renderTable(
          ['COMPRESSION', 'BEGUN', 'TRIGGER', 'BEFORE', 'AFTER', 'TRANSCRIPT', 'OUTCOME'],
          compressions,
          io.stdout.columns,
        ),
  ].join('\n');
}

function outcomeWords(compression: Lineage['compressions'][number]): string {
  const { status, parent_transcript, child_transcript, model, failure } = compression;
  if (status === 'started') return 'running';
  if (status === 'failed') return `failed: ${failure?.message ?? 'unknown'}`;
  const where = child_transcript === parent_transcript ? 'in place' : `goes on in ${child_transcript ?? 'unknown'}`;
  return `${where}, by ${model ?? 'unknown'}`;
}
