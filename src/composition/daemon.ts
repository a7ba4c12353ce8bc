/*
 * The daemon's life: lock, store, epoch, recovery, socket, and the same in reverse. It returns the exit code; whoever
 * called it ends the process.
 *
 * Start: owner lock → logger → store → epoch → socket (answers 503) → recovery → gateway.json `ready` → after an
 * unclean stop a look for damage, in the background.
 * Stop: `draining` → turns end → sockets close → store closes → gateway.json goes → lock is released.
 */
import { Container } from 'inversify';
import { UuidIds } from '../adapters/outbound/system/uuid-ids.ts';
import { acquireOwnerLock } from '../adapters/outbound/sqlite/owner-lock.ts';
import { StoreOpenError } from '../adapters/outbound/sqlite/store-open-error.ts';
import type { ServedStorage } from '../adapters/outbound/sqlite/sqlite-storage.ts';
import { openWorkerStorage } from '../adapters/outbound/sqlite/worker-storage.ts';
import type { WebSocketGateway } from '../adapters/inbound/websocket/websocket-gateway.ts';
import type { Configuration } from '../config/configuration.ts';
import { exitCodes } from '../config/exit-codes.ts';
import type { ExitCode } from '../config/exit-codes.ts';
import { readGatewayFile, removeGatewayFile, writeGatewayFile } from '../config/gateway-file.ts';
import type { GatewayFileState } from '../config/gateway-file.ts';
import { readLastPort, rememberPort } from '../config/last-port.ts';
import { readOrCreateToken } from '../config/token.ts';
import { StorageError } from '../core/ports/ledger.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { RecoveryReport } from '../core/use-cases/recovery.ts';
import type { FatalCause } from '../core/use-cases/session-actor.ts';
import { protocolName } from '../protocol/limits.ts';
import { adaptersModule } from './adapters-module.ts';
import { coreModule } from './core-module.ts';
import { inboundModule } from './inbound-module.ts';
import type { Stop } from './stop.ts';
import { tokens } from './tokens.ts';
import { readVersion } from '../config/version.ts';

export interface DaemonOptions {
  readonly configuration: Configuration;
  readonly logger: Logger;
  /** Takes the secrets that this process holds out of a text. */
  readonly mask: (text: string) => string;
  /** When and how the daemon is to stop. */
  readonly stop: Stop;
  /** Called when clients are served. */
  readonly onReady: (ready: { readonly url: string; readonly recovered: RecoveryReport }) => void;
}

/** How long a call that met a fatal fault has to be answered. Nothing is written meanwhile. */
const answerMs = 100;

/** Beyond the drain budget a stop that hangs is a bug; then the watchdog ends the process. */
const watchdogMarginMs = 30_000;

export async function runDaemon(options: DaemonOptions): Promise<ExitCode> {
  const { configuration, logger } = options;
  const { home, config } = configuration;
  const allowUnsafeFilesystem = config.storage.allow_unsafe_filesystem;
  try {
    const lock = acquireOwnerLock(home, { allowUnsafeFilesystem });
    if (lock.kind === 'taken') {
      logger.error(`another gateway owns this home${holderOf(home)}`, { home });
      return exitCodes.owned;
    }
    try {
      const newStoreId = new UuidIds().next();
      const storage = await openWorkerStorage({
        home,
        newStoreId,
        synchronous: config.storage.synchronous,
        allowUnsafeFilesystem,
        onFailure: (error) => options.stop.fatal({ kind: 'storage', error }),
        onIndexFailure: (error) =>
          logger.warn('the search index can not be used: searches find nothing, and all else goes on', { error }),
      });
      for (const warning of storage.opening.warnings) logger.warn(warning);
      return await serve(options, storage);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof StoreOpenError) && !(error instanceof StorageError)) throw error;
    logger.error(error.message, { kind: error.kind });
    return exitCodes.storage;
  }
}

async function serve(
  { configuration, logger, mask, stop, onReady }: DaemonOptions,
  storage: ServedStorage,
): Promise<ExitCode> {
  const { home, config } = configuration;
  const instanceId = new UuidIds().next();
  const clientToken = readOrCreateToken(home);
  const version = readVersion();
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(tokens.configuration).toConstantValue(configuration);
  container.bind(tokens.logger).toConstantValue(logger);
  container.bind(tokens.ledger).toConstantValue(storage.ledger);
  container.bind(tokens.queries).toConstantValue(storage.queries);
  container.bind(tokens.backups).toConstantValue(storage.backups);
  container.load(adaptersModule, coreModule, inboundModule);
  const clock = container.get(tokens.clock);
  const ownership = await storage.ledger.takeOwnership({ instanceId, now: clock.now() });
  container.bind(tokens.ownership).toConstantValue(ownership);
  container.bind(tokens.instance).toConstantValue({ instanceId, version, clientToken, mask, onFatal: stop.fatal });

  const gateway = container.get(tokens.gateway);
  const { server, url } = await listen(configuration, container.get(tokens.makeServer));
  const announce = (state: GatewayFileState): void => {
    const { pid } = process;
    const { epoch } = ownership;
    writeGatewayFile(home, {
      url,
      token: clientToken,
      pid,
      instance_id: instanceId,
      epoch,
      state,
      version,
      protocol: protocolName,
    });
  };
  announce('starting');
  logger.info('starting', { home, url, epoch: ownership.epoch, instanceId, storeId: ownership.storeId });
  const recovered = await gateway.start();
  if (recovered !== null && !stop.requested) {
    announce('ready');
    logger.info('ready', { url, ...recovered });
    onReady({ url, recovered });
    container.get(tokens.tokenCounter).warm();
    if (storage.opening.lastStop === 'unclean') void lookForDamage(storage, logger, stop);
  }

  const reason = await stop.wait;
  if (reason.kind === 'fatal') {
    // Callers are being answered; give the sockets a moment to say so, and touch nothing else.
    await clock.sleep(answerMs);
    await Promise.race([Promise.all([server.close(), container.get(tokens.toolHost).close()]), clock.sleep(500)]);
    await Promise.race([storage.noted(), clock.sleep(5_000)]);
    return fatalExit(reason.cause, logger);
  }
  logger.info('draining', { signal: reason.signal, drainSeconds: config.shutdown.drain_seconds });
  const drainMs = config.shutdown.drain_seconds * 1000;
  stop.watch(drainMs + watchdogMarginMs);
  announce('draining');
  await gateway.drain(drainMs, stop.hurry);
  // Who waits for the last turn is being answered.
  await clock.sleep(answerMs);
  await server.close();
  await container.get(tokens.toolHost).close();
  container.get(tokens.tokenCounter).close();
  await storage.close();
  removeGatewayFile(home, instanceId);
  const fatal = stop.fatalCause;
  if (fatal !== null) return fatalExit(fatal, logger);
  logger.info('stopped');
  return exitCodes.ok;
}

/** What it finds is a failure of the storage, which stops the gateway. */
async function lookForDamage(storage: ServedStorage, logger: Logger, stop: Stop): Promise<void> {
  logger.info('the last run did not end in order: looking for damage in the background');
  try {
    const damage = await storage.findDamage();
    if (damage.length === 0) logger.info('the store is undamaged');
    else logger.error('the store is damaged', { damage });
  } catch (error) {
    if (!stop.requested) logger.warn('the store could not be looked at', { error });
  }
}

/** Listens at the configured port; without one at the last one, if it is still free. */
async function listen(
  { home, config }: Configuration,
  makeServer: (port: number) => WebSocketGateway,
): Promise<{ readonly server: WebSocketGateway; readonly url: string }> {
  const { host, port: configured } = config.gateway;
  const last = configured === 0 ? readLastPort(home) : null;
  if (last !== null) {
    const server = makeServer(last);
    const bound = await server.start().catch(() => null); // somebody else has it now
    if (bound !== null) return { server, url: bound.url };
  }
  const server = makeServer(configured);
  try {
    const { port, url } = await server.start();
    if (configured === 0) rememberPort(home, port);
    return { server, url };
  } catch (error) {
    throw new ListenError(host, configured, error);
  }
}

/** The address can't be listened at. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(host: string, port: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The gateway can't listen at ${host}:${String(port)}: ${reason}`, { cause });
  }
}

function fatalExit(cause: FatalCause, logger: Logger): ExitCode {
  switch (cause.kind) {
    case 'storage':
      logger.error(
        cause.error.kind === 'corrupt'
          ? 'the store is damaged: nothing more is written. The next start looks at all of it first; a way back is `holdfast restore FILE`'
          : 'the storage failed: what was being written may or may not be there',
        { error: cause.error },
      );
      return exitCodes.storage;
    case 'superseded':
      logger.error('another gateway has taken this store over', { epoch: cause.epoch });
      return exitCodes.owned;
    case 'bug':
      logger.error('a bug ended the gateway', { error: cause.error });
      return exitCodes.internal;
  }
}

function holderOf(home: string): string {
  const found = readGatewayFile(home);
  return found.kind === 'found' ? ` (process ${String(found.gateway.pid)}, ${found.gateway.url})` : '';
}
