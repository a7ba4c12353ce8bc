import { Worker } from 'node:worker_threads';
import type { MaintenanceApi } from './maintenance-worker.ts';
import type { ReaderApi } from './reader-worker.ts';
import type { SearchApi } from './search-worker.ts';
import { WorkerChannel } from './worker-channel.ts';
import type { WriterApi } from './writer-worker.ts';

/** The threads of a store. Once they have closed a store they may open another. */
export interface StorageThreads {
  readonly writer: WorkerChannel<WriterApi>;
  /** For what the ledger reads, so that no turn and no command waits behind somebody's pages. */
  readonly reader: WorkerChannel<ReaderApi>;
  /** For lists and pages. */
  readonly pageReader: WorkerChannel<ReaderApi>;
}

export function startStorageThreads(): StorageThreads {
  return {
    writer: new WorkerChannel<WriterApi>(startWorker('writer-worker')),
    reader: new WorkerChannel<ReaderApi>(startWorker('reader-worker')),
    pageReader: new WorkerChannel<ReaderApi>(startWorker('reader-worker')),
  };
}

export async function terminateStorageThreads(threads: StorageThreads): Promise<void> {
  await Promise.all([threads.pageReader.terminate(), threads.reader.terminate(), threads.writer.terminate()]);
}

/** A thread for one long task. Whoever starts it ends it. */
export function startMaintenanceThread(): WorkerChannel<MaintenanceApi> {
  return new WorkerChannel<MaintenanceApi>(startWorker('maintenance-worker'));
}

/** The thread of the search index. Whoever starts it ends it. */
export function startSearchThread(): WorkerChannel<SearchApi> {
  return new WorkerChannel<SearchApi>(startWorker('search-worker'));
}

function startWorker(name: 'writer-worker' | 'reader-worker' | 'maintenance-worker' | 'search-worker'): Worker {
  const fromSources = import.meta.url.endsWith('.ts');
  const url = new URL(`./${name}.${fromSources ? 'ts' : 'js'}`, import.meta.url);
  return new Worker(url, { name: `holdfast ${name}`, ...(fromSources ? { execArgv: loaderOfSources() } : {}) });
}

/** Compiled code runs as it is. From sources a thread needs the loader, and tsx registers itself in main threads only. */
function loaderOfSources(): string[] {
  const script = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}
