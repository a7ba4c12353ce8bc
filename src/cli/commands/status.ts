import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { renderTable } from '../table.ts';
import { ago, duration } from '../time-words.ts';

type Status = ResultOf<'gateway.status'>;

export async function runStatus(context: CommandContext): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const status = await connection.call('gateway.status', {});
    printResult(context, status, () => statusText(context, status));
    return exitCodes.ok;
  });
}

function statusText(context: CommandContext, status: Status): string {
  const { admissions, model } = status;
  return [
    `state      ${status.state}, for ${duration(status.uptime_ms)}; version ${status.version}, epoch ${status.epoch}`,
    `model      ${model.model} (${model.provider}${model.base_url === null ? '' : ` at ${model.base_url}`})`,
    `storage    ${storageWords[status.storage]}`,
    `sessions   ${status.sessions}${status.waiting_sessions === 0 ? '' : `, ${status.waiting_sessions} wait for a free place`}`,
    `prompts    ${admissions.started} running, ${admissions.queued} queued, ${admissions.unknown} unknown, ${admissions.terminal} ended`,
    ...runningLines(context, status),
    ...unknownLines(context, status),
    ...heldLines(context, status),
  ].join('\n');
}

const storageWords = {
  ok: 'ok',
  retrying: 'in trouble: writes are refused and tried again',
  failed: 'failed: the gateway stops',
} as const satisfies Record<Status['storage'], string>;

function runningLines(
  { io, nowMs }: CommandContext,
  { running, max_concurrent_turns: most }: Status,
): readonly string[] {
  if (running.length === 0) return [];
  const rows = running.map((turn) => [
    turn.session_id,
    turn.admission_id,
    `step ${turn.step}, ${turn.activity}`,
    ago(turn.started_at, nowMs()),
  ]);
  return [
    '',
    `Running (${running.length} of ${most}):`,
    renderTable(['SESSION', 'ADMISSION', 'DOES', 'STARTED'], rows, io.stdout.columns),
  ];
}

function unknownLines({ io, nowMs }: CommandContext, { unknown }: Status): readonly string[] {
  if (unknown.length === 0) return [];
  const rows = unknown.map((lost) => [
    lost.session_id,
    lost.input_id,
    lost.boundary,
    lost.lost_at === null ? '' : ago(lost.lost_at, nowMs()),
  ]);
  return [
    '',
    'Need a decision (holdfast resolve SESSION --discard, or --retry):',
    renderTable(['SESSION', 'INPUT ID', 'REACHED', 'LOST'], rows, io.stdout.columns),
  ];
}

function heldLines({ io, nowMs }: CommandContext, { held }: Status): readonly string[] {
  if (held.length === 0) return [];
  const rows = held.map(({ session_id, hold, queued }) => [
    session_id,
    String(queued),
    hold.reason,
    ago(hold.at, nowMs()),
    hold.until ?? 'it is released',
  ]);
  return [
    '',
    'Held (holdfast release SESSION):',
    renderTable(['SESSION', 'QUEUED', 'REASON', 'SINCE', 'UNTIL'], rows, io.stdout.columns),
  ];
}
