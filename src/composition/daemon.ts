/*
 * The daemon's life: lock, socket, store, epoch, recovery, and the same in reverse. It returns the exit code; whoever
 * called it ends the process.
 *
 * Start: owner lock → logger → socket (answers 503) → store → epoch → recovery → gateway.json `ready` → after an unclean
 * stop a look for damage, in the background.
 * Stop: `draining` → turns end → sockets close → store closes → gateway.json goes → lock is released.
 *
 * D1: what can be wrong with the address is found before the store is touched.
 * D2: a stop may come at any moment. A start that is under way begins nothing more, and what it has opened is closed in
 *     order; so it is when the start fails.
 * D3: after a fatal cause, also one that comes during a stop, nothing is written: the store is not even closed.
 */
import { Container } from 'inversify';
import { UuidIds } from '../adapters/outbound/system/uuid-ids.ts';
import { acquireOwnerLock } from '../adapters/outbound/sqlite/owner-lock.ts';
import { StoreOpenError } from '../adapters/outbound/sqlite/store-open-error.ts';
import type { ServedStorage } from '../adapters/outbound/sqlite/sqlite-storage.ts';
import { openWorkerStorage } from '../adapters/outbound/sqlite/worker-storage.ts';
import type { Configuration } from '../config/configuration.ts';
import { exitCodes } from '../config/exit-codes.ts';
import type { ExitCode } from '../config/exit-codes.ts';
import { readGatewayFile, removeGatewayFile, writeGatewayFile } from '../config/gateway-file.ts';
import type { GatewayFileState } from '../config/gateway-file.ts';
import { HomeFileError } from '../config/home-file-error.ts';
import { readOrCreateToken } from '../config/token.ts';
import { StorageError } from '../core/ports/ledger.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { Gateway } from '../core/use-cases/gateway.ts';
import type { RecoveryReport } from '../core/use-cases/recovery.ts';
import type { FatalCause } from '../core/use-cases/fatal-cause.ts';
import { protocolName } from '../protocol/limits.ts';
import { adaptersModule } from './adapters-module.ts';
import { coreModule } from './core-module.ts';
import { fatalExit } from './fatal-exit.ts';
import { inboundModule } from './inbound-module.ts';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import type { Stop } from './stop.ts';
import { tokens } from './tokens.ts';
import type { Instance, Reception } from './tokens.ts';
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

export async function runDaemon(options: DaemonOptions): Promise<ExitCode> {
  const { configuration, logger } = options;
  const { home, config } = configuration;
  try {
    const lock = acquireOwnerLock(home, { allowUnsafeFilesystem: config.storage.allow_unsafe_filesystem });
    if (lock.kind === 'taken') {
      logger.error(`another gateway owns this home${holderOf(home)}`, { home });
      return exitCodes.owned;
    }
    try {
      return await new Life(options).live();
    } finally {
      lock.release();
    }
  } catch (error) {
    if (error instanceof HomeFileError) logger.error(error.message);
    else if (error instanceof StoreOpenError || error instanceof StorageError)
      logger.error(error.message, { kind: error.kind });
    else throw error;
    return exitCodes.storage;
  }
}

/** One life of an owner of the home, and what it has opened so far. */
class Life {
  readonly #options: DaemonOptions;
  readonly #instance: Instance;
  readonly #container: Container;
  #listening: Listening | null = null;
  #storage: ServedStorage | null = null;
  #gateway: Gateway | null = null;
  #reception: Reception | null = null;
  #announce: (state: GatewayFileState) => void = () => undefined;

  constructor(options: DaemonOptions) {
    const { configuration, logger, mask, stop } = options;
    this.#options = options;
    this.#instance = {
      instanceId: new UuidIds().next(),
      version: readVersion(),
      clientToken: readOrCreateToken(configuration.home),
      mask,
      onFatal: stop.fatal,
    };
    this.#container = new Container({ defaultScope: 'Singleton' });
    this.#container.bind(tokens.configuration).toConstantValue(configuration);
    this.#container.bind(tokens.logger).toConstantValue(logger);
    this.#container.bind(tokens.instance).toConstantValue(this.#instance);
    this.#container.load(adaptersModule, coreModule, inboundModule);
  }

  async live(): Promise<ExitCode> {
    const { stop } = this.#options;
    try {
      await this.#start();
      const reason = await stop.wait;
      if (reason.kind === 'signal') await Promise.race([this.#drain(reason.signal), stop.failed]);
      const cause = stop.fatalCause;
      return cause === null ? await this.#end() : await this.#breakOff(cause);
    } catch (error) {
      await this.#abandon();
      throw error;
    }
  }

  /** Returns when clients are served, or as soon as it sees that a stop is asked for. */
  async #start(): Promise<void> {
    const { configuration, logger, stop, onReady } = this.#options;
    const makeServer = this.#container.get(tokens.makeServer);
    this.#listening = await listen(configuration, (port) => makeServer(port, () => this.#reception), logger);
    if (stop.requested) return;
    this.#storage = await this.#openStore();
    if (stop.requested) return;
    this.#gateway = await this.#own(this.#storage, this.#listening);
    if (stop.requested) return;
    const recovered = await Promise.race([this.#gateway.start(), stop.wait.then(() => null)]);
    if (recovered === null || stop.requested) return;
    const { url } = this.#listening;
    this.#announce('ready');
    logger.info('ready', { url, ...recovered });
    onReady({ url, recovered });
    this.#container.get(tokens.tokenCounter).warm();
    if (this.#storage.opening.lastStop === 'unclean') void lookForDamage(this.#storage, logger, stop);
  }

  async #openStore(): Promise<ServedStorage> {
    const { configuration, logger, stop } = this.#options;
    const { home, config } = configuration;
    const storage = await openWorkerStorage({
      home,
      newStoreId: new UuidIds().next(),
      synchronous: config.storage.synchronous,
      allowUnsafeFilesystem: config.storage.allow_unsafe_filesystem,
      onFailure: (error) => stop.fatal({ kind: 'storage', error }),
      onIndexFailure: (error) =>
        logger.warn('the search index can not be used: searches find nothing, and all else goes on', { error }),
    });
    for (const warning of storage.opening.warnings) logger.warn(warning);
    this.#container.bind(tokens.ledger).toConstantValue(storage.ledger);
    this.#container.bind(tokens.queries).toConstantValue(storage.queries);
    this.#container.bind(tokens.backups).toConstantValue(storage.backups);
    return storage;
  }

  /** Takes the store over. From now on there is somebody who answers, although nobody is served yet. */
  async #own({ ledger }: ServedStorage, { url }: Listening): Promise<Gateway> {
    const { configuration, logger } = this.#options;
    const { home } = configuration;
    const { instanceId, clientToken, version } = this.#instance;
    const now = this.#container.get(tokens.clock).now();
    const ownership = await ledger.takeOwnership({ instanceId, now });
    this.#container.bind(tokens.ownership).toConstantValue(ownership);
    const { epoch, storeId } = ownership;
    const gateway = this.#container.get(tokens.gateway);
    this.#reception = this.#container.get(tokens.reception);
    const owner = { url, token: clientToken, pid: process.pid, instance_id: instanceId, epoch };
    this.#announce = (state) => writeGatewayFile(home, { ...owner, state, version, protocol: protocolName });
    this.#announce('starting');
    logger.info('starting', { home, url, epoch, instanceId, storeId });
    return gateway;
  }

  async #drain(signal: string): Promise<void> {
    const { configuration, logger, stop } = this.#options;
    const { drain_seconds: drainSeconds } = configuration.config.shutdown;
    logger.info('draining', { signal, drainSeconds });
    this.#attempt(() => this.#announce('draining'));
    await this.#gateway?.drain(drainSeconds * 1000, stop.hurry);
    // Who waits for the last turn is being answered.
    if (this.#gateway?.isServing() === true) await this.#container.get(tokens.clock).sleep(answerMs);
    await this.#closeSockets();
  }

  async #closeSockets(): Promise<void> {
    await this.#listening?.server.close();
    if (this.#gateway === null) return;
    await this.#container.get(tokens.toolHost).close();
    this.#container.get(tokens.tokenCounter).close();
  }

  /** The end of a stop in order. */
  async #end(): Promise<ExitCode> {
    const { configuration, logger, stop } = this.#options;
    await this.#closeStore();
    if (stop.fatalCause !== null) return fatalExit(stop.fatalCause, logger);
    this.#attempt(() => removeGatewayFile(configuration.home, this.#instance.instanceId));
    logger.info('stopped');
    return exitCodes.ok;
  }

  /** The end after a fatal cause (D3). */
  async #breakOff(cause: FatalCause): Promise<ExitCode> {
    const clock = this.#container.get(tokens.clock);
    // Callers are being answered; give the sockets a moment to say so, and touch nothing else.
    await clock.sleep(answerMs);
    await Promise.race([this.#closeSockets(), clock.sleep(500)]);
    await this.#noted();
    return fatalExit(cause, this.#options.logger);
  }

  /** The end after an error: what went wrong is told by whoever catches it. */
  async #abandon(): Promise<void> {
    const { logger, stop } = this.#options;
    try {
      await this.#closeSockets();
      if (stop.fatalCause === null) await this.#closeStore();
      else await this.#noted();
    } catch (error) {
      logger.warn('what was open could not be closed', { error });
    }
  }

  /** The next owner is told of damage, if the disk still takes the note. */
  async #noted(): Promise<void> {
    await Promise.race([this.#storage?.noted(), this.#container.get(tokens.clock).sleep(5_000)]);
  }

  /** Once, however it ends. */
  async #closeStore(): Promise<void> {
    const storage = this.#storage;
    this.#storage = null;
    await storage?.close();
  }

  /** For what a stop can do without. */
  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.logger.warn('gateway.json can not be changed', { error });
    }
  }
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

function holderOf(home: string): string {
  const found = readGatewayFile(home);
  return found.kind === 'found' ? ` (process ${String(found.gateway.pid)}, ${found.gateway.url})` : '';
}
