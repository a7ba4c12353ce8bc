import { resolve } from 'node:path';
import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { CliFailure } from '../failure.ts';
import type { CliIo } from '../io.ts';
import type { HomeOptions } from '../options.ts';
import { printable } from '../printable.ts';
import { orRefusedLater } from '../refused-configuration.ts';

export type RestoreCommandOptions = HomeOptions & { readonly acceptLoss?: boolean };

/** Puts a backup in the place of a home folder's store, or accepts the store as it is. No gateway may run meanwhile. */
export async function runRestore(
  io: CliIo,
  file: string | undefined,
  { home, json, acceptLoss = false }: RestoreCommandOptions,
): Promise<ExitCode> {
  if ((file !== undefined) === acceptLoss) {
    throw new CliFailure(exitCodes.usage, 'usage', 'Name either a backup to put back, or --accept-loss.');
  }
  const { restore } = await import('../../main.ts');
  const backup = file === undefined ? null : resolve(file);
  const ended = await orRefusedLater(() => restore({ home, file: backup }));
  if (ended.kind === 'failed') throw new CliFailure(ended.exitCode, ended.reason, ended.message);
  const { store, missing, keptIn } = ended.value;
  const document = {
    restored_from: backup,
    store_id: store?.storeId ?? null,
    epoch: store?.epoch ?? null,
    commits: store?.commits ?? null,
    missing,
    admissions: store?.admissions ?? null,
    kept_in: keptIn,
  };
  io.stdout.write(json === true ? `${JSON.stringify(document, null, 2)}\n` : `${printable(asText(document))}\n`);
  return exitCodes.ok;
}

interface RestoreDocument {
  readonly restored_from: string | null;
  readonly store_id: string | null;
  readonly missing: { readonly after: number; readonly until: number; readonly at: string } | null;
  readonly admissions: Readonly<Record<'queued' | 'started' | 'unknown' | 'terminal', number>> | null;
  readonly kept_in: string | null;
}

function asText({ restored_from, store_id, missing, admissions, kept_in }: RestoreDocument): string {
  const kept = kept_in === null ? [] : [`What was there before is in ${kept_in}. Delete it when you are sure.`];
  const lost =
    missing === null
      ? []
      : [
          `Missing: commits ${String(missing.after + 1)} to ${String(missing.until)}, and whatever came after them. The last ` +
            `of these was acknowledged by ${missing.at}.`,
        ];
  if (admissions === null) {
    return ['There is no store here. The next start makes an empty one.', ...lost, ...kept].join('\n');
  }
  const { queued, started, unknown, terminal } = admissions;
  return [
    restored_from === null
      ? 'The store is accepted as it is. It was checked, and is whole in itself.'
      : `${restored_from} is in place. It was checked as a whole.`,
    ...lost,
    `Prompts: ${String(terminal)} ended, ${String(queued)} queued, ${String(started)} running when it was written, ` +
      `${String(unknown)} of unknown fate.`,
    `It has the new id ${String(store_id)}, so that clients take fresh snapshots.`,
    ...kept,
    'Start it with: holdfast serve',
  ].join('\n');
}
