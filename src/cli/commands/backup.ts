import { resolve } from 'node:path';
import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { CliFailure } from '../failure.ts';
import { addressByHand } from '../gateway-address.ts';
import type { RemoteOptions } from '../options.ts';
import { orRefusedLater } from '../refused-configuration.ts';
import { bytesInWords } from '../size-words.ts';

type Backup = ResultOf<'gateway.backup'>;

/** A large store takes its time, and nothing waits for a backup. */
const longestBackupMs = 24 * 60 * 60 * 1_000;

/** Copies the store: the gateway does it, or, where none runs, this process. */
export async function runBackup(context: CommandContext, file: string, options: RemoteOptions): Promise<ExitCode> {
  const path = resolve(file);
  const backup = await throughGateway(context, path).catch((error: unknown) => {
    if (!(error instanceof CliFailure) || error.reason !== 'no_gateway') throw error;
    // The store of this machine's home folder is not the one of a gateway that was named by its address.
    if (addressByHand(options, context.io.environment) !== undefined) throw error;
    return withoutGateway(path, options);
  });
  printResult(context, backup, () =>
    [
      `${backup.path} is a copy of the store (${bytesInWords(backup.bytes)}, up to commit ${backup.commits}), and it was checked.`,
      `Put it back with: holdfast restore '${backup.path}'`,
    ].join('\n'),
  );
  return exitCodes.ok;
}

async function throughGateway(context: CommandContext, path: string): Promise<Backup> {
  return withConnection(context, (connection) =>
    connection.call('gateway.backup', { path }, { timeoutMs: longestBackupMs }),
  );
}

async function withoutGateway(path: string, { home }: RemoteOptions): Promise<Backup> {
  const { backup } = await import('../../main.ts');
  const ended = await orRefusedLater(() => backup({ home, file: path }));
  if (ended.kind === 'failed') throw new CliFailure(ended.exitCode, ended.reason, ended.message);
  const { bytes, storeId: store_id, epoch, commits } = ended.value;
  return { path, bytes, store_id, epoch, commits };
}
