/*
 * The gateway as a whole, without sockets and files: it owns the store, recovers it, runs the queues, and stops in
 * order. Its border: who starts it, what it listens on, and how the process ends are the composition root's affair.
 *
 * G1: recovery is finished before the gateway is ready, and nothing runs before that.
 * G2: from `drain` on nothing is claimed and no new prompt is taken; queued admissions stay as they are.
 * G3: after a fatal cause nothing more is decided; running requests are aborted and nothing is settled.
 * G4: a stop that comes before recovery is finished breaks it off: the next owner does the rest, and nobody is served.
 */
import type { Logger } from '../ports/logger.ts';
import { StorageError } from '../ports/ledger.ts';
import type { Ownership } from '../ports/ledger.ts';
import type { SessionQueries } from '../ports/session-queries.ts';
import type { ModelInputs } from '../ports/model-catalog.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { DecideLimits } from '../domain/session/decision.ts';
import type { SessionState } from '../domain/session/state.ts';
import { ApprovalDesk } from './approval-desk.ts';
import { CompressionDesk } from './compress-by-hand.ts';
import { makeCompressor } from './compressor.ts';
import type { CompressionProgress, CompressorDependencies } from './compressor.ts';
import { makeReportContext } from './context-report.ts';
import type { ReportContext } from './context-report.ts';
import type { FatalCause } from './fatal-cause.ts';
import type { GatewayPhase, ReadGatewayStatus, StorageHealth } from './gateway-status.ts';
import { HoldTimer } from './hold-timer.ts';
import { makeAcceptedInputs, makeLearningCatalog, makeLearnWindow } from './learnt-windows.ts';
import type { LearningRules } from './learnt-windows.ts';
import { makeTransitionLog } from './log-transitions.ts';
import { makeWindowLog } from './log-windows.ts';
import { makeNumbering } from './numbering.ts';
import { isCutShort, patiently } from './patient-reads.ts';
import { makeReadSnapshot } from './read-snapshot.ts';
import { recover } from './recovery.ts';
import type { RecoveryReport } from './recovery.ts';
import type { ReadSnapshot } from './resume-session.ts';
import { Scheduler } from './scheduler.ts';
import { StorageWatch } from './storage-watch.ts';
import { TitleDesk } from './title-desk.ts';
import type { TitleDependencies } from './title-desk.ts';
import { SessionRegistry } from './session-registry.ts';
import type { SessionRegistryDependencies } from './session-registry.ts';
import type { Sessions } from './sessions.ts';
import { makeTranscripts } from './transcripts.ts';
import { TurnRunner } from './turn-runner.ts';
import type { TurnRunnerDependencies } from './turn-runner.ts';

export interface GatewayDependencies
  extends
    Pick<SessionRegistryDependencies, 'ledger' | 'clock' | 'failpoints' | 'hub' | 'maxLoadedSessions'>,
    Pick<
      TurnRunnerDependencies,
      | 'provider'
      | 'catalog'
      | 'tokens'
      | 'tools'
      | 'digest'
      | 'policy'
      | 'maxOutputTokens'
      | 'maxSteps'
      | 'retry'
      | 'jitter'
      | 'onOutage'
      | 'approvalRules'
      | 'callLimits'
      | 'fallbacksOf'
    >,
    Pick<CompressorDependencies, 'ids' | 'summaryTarget' | 'summaryDeadlineMs' | 'mask'>,
    Pick<TitleDependencies, 'titles'>,
    LearningRules {
  readonly logger: Logger;
  readonly queries: SessionQueries;
  readonly ownership: Ownership;
  readonly instanceId: string;
  readonly limits: DecideLimits;
  readonly maxConcurrentTurns: number;
  readonly maxCachedCharacters: number;
  readonly onUnknown: 'hold' | 'discard';
  readonly defaultTarget: ModelTarget;
  /** Called once. The process must end soon, with the exit code of the cause. */
  readonly onFatal: (cause: FatalCause) => void;
}

export interface Gateway {
  readonly sessions: Sessions;
  readonly reportContext: ReportContext;
  readonly readSnapshot: ReadSnapshot;
  /** Compressions by hand. */
  readonly byHand: Pick<CompressionDesk, 'compress' | 'preview'>;
  readonly status: ReadGatewayStatus;
  readonly phase: () => GatewayPhase;
  /** Whether clients may be served: since recovery is finished, also while the gateway drains. */
  readonly isServing: () => boolean;
  readonly storage: () => StorageHealth;
  /** Recovers and starts the queues. Null: it was told to stop, or the storage failed and `onFatal` was called. */
  start(): Promise<RecoveryReport | null>;
  /**
   * Stops in order: running turns may finish for `drainMs`, then they are interrupted and settled. A start that is under
   * way is broken off, and has ended when this resolves.
   */
  drain(drainMs: number, hurry: AbortSignal): Promise<void>;
}

/** How often a drain repeats its stop requests, in milliseconds. */
const interruptEveryMs = 250;

export function makeGateway(deps: GatewayDependencies): Gateway {
  const { clock, logger, ownership } = deps;
  const startedAt = clock.now();
  const startedMs = clock.monotonicMs();
  let phase: GatewayPhase = 'starting';
  let isServing = false;
  const storage = new StorageWatch(logger);
  let starting: Promise<unknown> = Promise.resolve();
  /** Aborts when nobody waits for recovery any more. */
  const brokenOff = new AbortController();
  /** The newest sequence number that was looked at while recovery runs, by session. */
  const lookedAt = new Map<string, number>();

  const takes = (target: ModelTarget): ModelInputs => deps.catalog.limits(target).takes ?? {};
  const limits: DecideLimits = { ...deps.limits, takes };
  const sessions = new SessionRegistry({
    ...deps,
    numbering: makeNumbering(ownership),
    circumstances: () => ({ epoch: ownership.epoch, draining: phase === 'draining', limits }),
    onStorage: storage.heard,
    onFatal,
  });
  const transcripts = makeTranscripts({ ledger: deps.ledger, maxCharacters: deps.maxCachedCharacters });
  sessions.onCommit(transcripts.observe);
  const catalog = makeLearningCatalog(deps);
  sessions.onCommit(catalog.observe);
  const reportContext = makeReportContext({ ...deps, catalog });
  const accepted = makeAcceptedInputs({ now: () => clock.now() });
  const learnWindow = makeLearnWindow({ ...deps, sessions, catalog, accepted });
  const compressor = { ...deps, sessions, transcripts, catalog, learnWindow, onProgress: publishProgress };
  const compress = makeCompressor(compressor);
  const byHand = new CompressionDesk({ ...compressor, onBug });
  sessions.onCommit(byHand.observe);
  const approvals = new ApprovalDesk({ sessions, clock });
  const runner = new TurnRunner({
    ...deps,
    approvals,
    sessions,
    transcripts,
    catalog,
    compress,
    learnWindow,
    accepted,
    epoch: () => ownership.epoch,
  });
  const scheduler = new Scheduler({
    maxConcurrentTurns: deps.maxConcurrentTurns,
    runTurn: (sessionId) => runner.run(sessionId),
    onBug,
  });
  sessions.onCommit(makeTransitionLog(logger));
  sessions.onCommit(makeWindowLog({ ...deps, catalog, logger }));
  // Before the runner: an answer is heard before the stop that comes with a later commit.
  sessions.onCommit(approvals.observe);
  sessions.onCommit(runner.observe);
  const holds = new HoldTimer({ sessions, clock });
  const titles = new TitleDesk({ ...deps, sessions });
  sessions.onCommit(consider);
  sessions.onCommit(titles.observe);

  return {
    sessions,
    byHand,
    reportContext,
    readSnapshot: makeReadSnapshot({ ...deps, sessions, reportContext, partialOf: (id) => runner.partialOf(id) }),
    status,
    phase: () => phase,
    isServing: () => isServing,
    storage: () => storage.now,
    start: () => {
      const started = recoverAndRun();
      starting = started;
      return started;
    },
    drain,
  };

  function consider(sessionId: string, state: SessionState): void {
    if (phase === 'starting') {
      // A hold may end while recovery goes on, and what recovery has read of its session is older then.
      if (state.seq < (lookedAt.get(sessionId) ?? 0)) return;
      lookedAt.set(sessionId, state.seq);
    }
    scheduler.consider(sessionId, state);
    holds.consider(sessionId, state);
  }

  async function recoverAndRun(): Promise<RecoveryReport | null> {
    const report = await recoverAll();
    lookedAt.clear();
    if (report === null || phase !== 'starting') return null;
    phase = 'ready';
    isServing = true;
    scheduler.start();
    return report;
  }

  async function recoverAll(): Promise<RecoveryReport | null> {
    const { signal } = brokenOff;
    const unfinished = (): Promise<readonly string[]> => patiently(clock, signal, () => deps.ledger.unfinished());
    try {
      const report = await recover({ ...deps, unfinished, sessions });
      if (report === null) return null;
      // Recovery commits nothing for a session that only waits, so every unfinished one is looked at once.
      for (const sessionId of await unfinished()) {
        const state = await patiently(clock, signal, () => sessions.state(sessionId));
        if (signal.aborted) return null;
        if (state !== null) consider(sessionId, state);
      }
      catalog.load(await patiently(clock, signal, () => deps.ledger.learntWindows()));
      return report;
    } catch (error) {
      if (isCutShort(error, signal)) return null;
      if (!(error instanceof StorageError)) throw error;
      onFatal({ kind: 'storage', error });
      return null;
    }
  }

  async function drain(drainMs: number, hurry: AbortSignal): Promise<void> {
    const isStarting = phase === 'starting';
    phase = 'draining';
    scheduler.stop();
    if (isStarting) return breakOff();
    byHand.stopLooking();
    const titled = titles.stop();
    const waited = new AbortController();
    const abort = (): void => {
      waited.abort();
    };
    hurry.addEventListener('abort', abort);
    if (isRunning() && !hurry.aborted) await Promise.race([idle(), clock.sleep(drainMs, waited.signal)]);
    waited.abort();
    hurry.removeEventListener('abort', abort);
    // A turn whose claim was under way has no generation at first: ask again until all have ended.
    while (isRunning()) {
      await Promise.all([runner.interruptAll('shutdown'), byHand.interruptAll('shutdown')]);
      await Promise.race([idle(), clock.sleep(interruptEveryMs)]);
    }
    // An abort ends a request soon; a title that is just being stored may finish. Neither holds up a stop.
    if (titles.isRunning) await Promise.race([titled, clock.sleep(interruptEveryMs)]);
  }

  async function breakOff(): Promise<void> {
    brokenOff.abort();
    sessions.halt();
    await starting;
  }

  function isRunning(): boolean {
    return scheduler.runningSessions.length > 0 || byHand.isRunning;
  }

  async function idle(): Promise<void> {
    await Promise.all([scheduler.idle(), byHand.idle()]);
  }

  function publishProgress(progress: CompressionProgress): void {
    if (!deps.hub.hasListeners(progress.sessionId)) return;
    deps.hub.publishLive({ type: 'compression.progress', at: clock.now(), epoch: ownership.epoch, ...progress });
  }

  function onBug(error: unknown): void {
    onFatal(error instanceof StorageError ? { kind: 'storage', error } : { kind: 'bug', error });
  }

  function onFatal(cause: FatalCause): void {
    if (storage.now === 'failed') return;
    storage.fail();
    brokenOff.abort();
    scheduler.stop();
    sessions.halt();
    runner.abortAll();
    byHand.abortAll();
    void titles.stop();
    deps.onFatal(cause);
  }

  async function status(): ReturnType<ReadGatewayStatus> {
    return {
      phase,
      instanceId: deps.instanceId,
      epoch: ownership.epoch,
      storeId: ownership.storeId,
      startedAt,
      uptimeMs: Math.round(clock.monotonicMs() - startedMs),
      defaultTarget: deps.defaultTarget,
      running: runner.running(),
      waitingSessions: scheduler.waitingSessions,
      maxConcurrentTurns: deps.maxConcurrentTurns,
      storage: storage.now,
      tools: deps.tools.health(),
      counts: await deps.queries.counts(),
      breakers: await deps.queries.openBreakers({ now: clock.now(), limit: 20 }),
      held: await deps.queries.heldQueues(20),
      unknown: await deps.queries.unknownAdmissions(20),
    };
  }
}
