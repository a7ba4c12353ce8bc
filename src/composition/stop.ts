import type { FatalCause } from '../core/use-cases/fatal-cause.ts';

type StopReason =
  { readonly kind: 'signal'; readonly signal: string } | { readonly kind: 'fatal'; readonly cause: FatalCause };

/** When and why the daemon stops. */
export interface Stop {
  /** Resolves at the first signal or fatal cause. */
  readonly wait: Promise<StopReason>;
  readonly requested: boolean;
  /** Aborts at the second signal: whoever waits should wait no longer. */
  readonly hurry: AbortSignal;
  /** The first fatal cause, also one that came after a signal. */
  readonly fatalCause: FatalCause | null;
  /** Resolves when there is a fatal cause. */
  readonly failed: Promise<void>;
  readonly fatal: (cause: FatalCause) => void;
}

/** Who ends the process when a stop hangs, wherever it does. */
interface Watchdog {
  /** How long after the beginning of the stop. */
  readonly ms: number;
  readonly bark: () => void;
}

/**
 * Listens to SIGTERM and SIGINT. SIGHUP is ignored: a closed terminal doesn't stop a gateway, and the configuration is
 * read at the start only.
 */
export function stopOnSignals(process: Pick<NodeJS.Process, 'on'>, watchdog: Watchdog): Stop {
  const hurry = new AbortController();
  let requested = false;
  let fatalCause: FatalCause | null = null;
  let resolve: (reason: StopReason) => void = () => undefined;
  const wait = new Promise<StopReason>((done) => {
    resolve = done;
  });
  let fail: () => void = () => undefined;
  const failed = new Promise<void>((done) => {
    fail = done;
  });
  const begin = (reason: StopReason): void => {
    if (!requested) setTimeout(watchdog.bark, watchdog.ms).unref();
    requested = true;
    resolve(reason);
  };
  const signalled = (signal: string): void => {
    if (requested) hurry.abort();
    begin({ kind: 'signal', signal });
  };
  process.on('SIGTERM', signalled);
  process.on('SIGINT', signalled);
  process.on('SIGHUP', () => undefined);
  return {
    wait,
    hurry: hurry.signal,
    failed,
    get requested() {
      return requested;
    },
    get fatalCause() {
      return fatalCause;
    },
    fatal: (cause) => {
      fatalCause ??= cause;
      hurry.abort();
      fail();
      begin({ kind: 'fatal', cause });
    },
  };
}
