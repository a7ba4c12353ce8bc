import type { FatalCause } from '../core/use-cases/fatal-cause.ts';

type StopReason =
  { readonly kind: 'signal'; readonly signal: string } | { readonly kind: 'fatal'; readonly cause: FatalCause };

/** When and why the daemon stops. */
export interface Stop {
  readonly wait: Promise<StopReason>;
  readonly requested: boolean;
  /** Aborts at the second signal: whoever waits should wait no longer. */
  readonly hurry: AbortSignal;
  /** The first fatal cause, also one that came after a signal. */
  readonly fatalCause: FatalCause | null;
  readonly fatal: (cause: FatalCause) => void;
  /** Ends the process with 70 unless it has ended by itself in time. */
  watch(ms: number): void;
}

/**
 * Listens to SIGTERM and SIGINT. SIGHUP is ignored: a closed terminal doesn't stop a gateway, and the configuration is
 * read at the start only.
 */
export function stopOnSignals(process: NodeJS.Process, onWatchdog: () => void): Stop {
  const hurry = new AbortController();
  let requested = false;
  let fatalCause: FatalCause | null = null;
  let resolve: (reason: StopReason) => void = () => undefined;
  const wait = new Promise<StopReason>((done) => {
    resolve = done;
  });
  const signalled = (signal: string): void => {
    if (requested) hurry.abort();
    requested = true;
    resolve({ kind: 'signal', signal });
  };
  process.on('SIGTERM', signalled);
  process.on('SIGINT', signalled);
  process.on('SIGHUP', () => undefined);
  return {
    wait,
    hurry: hurry.signal,
    get requested() {
      return requested;
    },
    get fatalCause() {
      return fatalCause;
    },
    fatal: (cause) => {
      fatalCause ??= cause;
      requested = true;
      hurry.abort();
      resolve({ kind: 'fatal', cause });
    },
    watch: (ms) => {
      setTimeout(onWatchdog, ms).unref();
    },
  };
}
