import type { ServerApprovals } from '../../../src/core/domain/approval/policy.ts';
import type { RespondApproval } from '../../../src/core/use-cases/respond-approval.ts';
import type { Settings } from '../history/settings.ts';
import type { FatalCause } from '../../../src/core/use-cases/fatal-cause.ts';
import type { Gateway, GatewayDependencies } from '../../../src/core/use-cases/gateway.ts';
import type { CreateSession } from '../../../src/core/use-cases/create-session.ts';
import type { SteerPrompt } from '../../../src/core/use-cases/steer-prompt.ts';
import type { EditPrompt } from '../../../src/core/use-cases/edit-prompt.ts';
import type { ForkSession } from '../../../src/core/use-cases/fork-session.ts';
import type { SessionQueries } from '../../../src/core/ports/session-queries.ts';
import type { Sessions } from '../../../src/core/use-cases/sessions.ts';
import type { Command } from '../../../src/core/domain/session/commands.ts';
import type { SubmitPrompt } from '../../../src/core/use-cases/submit-prompt.ts';
import type { Subscribe } from '../../../src/core/use-cases/subscribe.ts';
import type { Failpoints } from '../../../src/core/ports/failpoints.ts';
import type { EventHub } from '../../../src/core/ports/event-hub.ts';
import type { Logger } from '../../../src/core/ports/logger.ts';
import type { Ownership } from '../../../src/core/ports/ledger.ts';
import type { TokenCounter } from '../../../src/core/ports/token-counter.ts';
import type { Exchange } from '../judge/rows.ts';
import { SimulatedLedger } from '../ports/simulated-ledger.ts';
import type { LedgerObserver } from '../ports/simulated-ledger.ts';
import { simulatedQueries } from '../ports/simulated-queries.ts';
import type { Asker } from '../ports/model-server.ts';
import { isSmall } from '../ports/model-scripts.ts';
import type { Site } from './site.ts';

const approvalPolicies: Readonly<Record<Settings['approvals'], ServerApprovals>> = {
  none: { approval: 'always', rules: [] },
  some: { approval: 'always', rules: [{ tool: 'look', arguments: { path: 'b*' }, approval: 'ask' }] },
  all: { approval: 'ask', rules: [] },
  never: { approval: 'never', rules: [] },
};

type Phase = 'booting' | 'ready' | 'draining' | 'stopping';

/** What a process that serves can be asked. */
export interface Services {
  readonly gateway: Gateway;
  readonly createSession: CreateSession;
  readonly submitPrompt: SubmitPrompt;
  readonly steerPrompt: SteerPrompt;
  readonly editPrompt: EditPrompt;
  readonly forkSession: ForkSession;
  readonly respondApproval: RespondApproval;
  readonly queries: SessionQueries;
  readonly subscribe: Subscribe;
}

/** One life of the daemon: it takes the store over, recovers, serves, and ends in some way. */
export class GatewayProcess implements Asker {
  readonly name: string;
  alive = true;
  frozen = false;
  phase: Phase = 'booting';
  /** From the first stop signal on. */
  draining = false;
  epoch = 0;
  services: Services | null = null;
  readonly #site: Site;
  readonly #turns = new Map<string, NonNullable<Exchange['turn']>>();
  readonly #hurry = new AbortController();
  #ids = 0;

  constructor(site: Site, name: string) {
    this.#site = site;
    this.name = name;
  }

  /** Whether clients find it. */
  get serves(): boolean {
    const isUp = this.phase === 'ready' || this.phase === 'draining';
    return this.alive && isUp && this.services?.gateway.isServing() === true;
  }

  get isRecovering(): boolean {
    return this.phase === 'booting' && this.services !== null;
  }

  turnOf(sessionId: string): Exchange['turn'] {
    return this.#turns.get(sessionId) ?? null;
  }

  async boot(): Promise<void> {
    const { core, judge } = this.#site;
    try {
      const ledger = this.#ledger();
      const instanceId = this.name;
      const ownership = await ledger.takeOwnership();
      this.epoch = ownership.epoch;
      this.services = this.#build(ledger, ownership, instanceId);
      const report = await this.services.gateway.start();
      if (report === null || this.phase !== 'booting') return;
      this.phase = 'ready';
      judge.ready(this);
      this.#site.ready(this);
    } catch (error) {
      this.#fatal(error instanceof core.StorageError ? { kind: 'storage', error } : { kind: 'bug', error });
    }
  }

  /** A graceful stop; a second call is the second signal. */
  async drain(drainMs: number): Promise<void> {
    if (this.phase === 'draining') this.#hurry.abort();
    if ((this.phase !== 'ready' && !this.isRecovering) || this.services === null) return;
    this.phase = 'draining';
    this.draining = true;
    await this.services.gateway.drain(drainMs, this.#hurry.signal);
    if (this.phase !== 'draining') return;
    this.#site.judge.stopped(this);
    this.#exit('stopped');
  }

  #ledger(): SimulatedLedger {
    const { world, disk, core, coverage, judge, settings } = this.#site;
    const observer: LedgerObserver = {
      asked: ({ events }) => {
        // At a named place the decision may lie long before its append.
        if (!settings.failpoints && events.some(({ type }) => type === 'turn.started')) judge.starts(this);
      },
      committed: ({ sessionId, events }) => {
        for (const { type, admissionId, executionGeneration } of events) {
          if (type !== 'turn.started' || admissionId === null || executionGeneration === null) continue;
          this.#turns.set(sessionId, { admissionId, executionGeneration });
        }
      },
      refused: (kind) => coverage.add('append refused', kind),
    };
    return new SimulatedLedger({ world, owner: this, disk, core, observer });
  }

  #build(ledger: SimulatedLedger, ownership: Ownership, instanceId: string): Services {
    const { world, clock, disk, core, server, tools, settings } = this.#site;
    const queries = simulatedQueries({ world, owner: this, disk, core });
    const ids = { next: () => `${this.name}-${(this.#ids += 1)}` };
    const digest = { of: (text: string) => `#${text}` };
    const tokens = this.#tokens();
    const hub: EventHub = new core.MemoryEventHub(this.#logger);
    const defaultTarget = { provider: 'custom', model: 'default', baseUrl: null };
    const dependencies: GatewayDependencies = {
      ledger,
      queries,
      ids,
      digest,
      tokens,
      tools: tools.hostFor(this),
      hub,
      ownership,
      instanceId,
      defaultTarget,
      clock: clock.of(this),
      failpoints: this.#failpoints(),
      logger: this.#logger,
      provider: server.providerFor(this),
      catalog: {
        limits: ({ model }) => ({
          contextTokens: Math.floor(settings.windowTokens * (isSmall(model) ? settings.smallShare : 1)),
          outputTokens: settings.outputTokens,
          source: settings.windowIsKnown ? 'configured' : 'default',
        }),
      },
      policy: {
        enabled: settings.compression,
        protectFirstN: settings.protectFirstN,
        protectLastN: settings.protectLastN,
        threshold: settings.threshold,
        thresholdTokens: null,
        inPlace: settings.inPlace,
      },
      summaryTarget: settings.auxiliaryModel ? { provider: 'custom', model: 'auxiliary', baseUrl: null } : null,
      summaryDeadlineMs: 45_000,
      titles: null,
      mask: (text) => text,
      maxOutputTokens: null,
      maxSteps: settings.maxSteps,
      retry: { maxAttempts: settings.maxAttempts, baseDelayMs: 500, maxDelayMs: 5000, maxTotalMs: 60_000 },
      jitter: () => 0.5,
      fallbacksOf: () => [],
      onOutage: settings.onOutage,
      approvalRules: {
        policy: { scripted: approvalPolicies[settings.approvals] },
        expirySeconds: settings.approvalSeconds,
        maxOpen: settings.maxOpenApprovals,
      },
      learntWindowSeconds: 7 * 24 * 3600,
      // A narrow gateway is narrow inside its turns, too.
      callLimits: { maxPerStep: 16, maxParallel: settings.maxConcurrentTurns },
      maxLoadedSessions: settings.maxLoadedSessions,
      maxConcurrentTurns: settings.maxConcurrentTurns,
      maxCachedCharacters: settings.maxCachedCharacters,
      onUnknown: settings.onUnknown,
      limits: { maxQueuedPerSession: settings.maxQueuedPerSession, maxLostStarts: settings.maxLostStarts },
      onFatal: (cause) => this.#fatal(cause),
    };
    const gateway = core.makeGateway(dependencies);
    const { sessions } = gateway;
    return {
      gateway,
      createSession: core.makeCreateSession({
        ...dependencies,
        sessions,
        toolsFor: () => ({ toolsets: ['scripted'], tools: ['scripted'] }),
      }),
      submitPrompt: core.makeSubmitPrompt({ ...dependencies, sessions }),
      steerPrompt: core.makeSteerPrompt({ ...dependencies, sessions }),
      editPrompt: core.makeEditPrompt({ sessions, digest }),
      forkSession: core.makeForkSession({ ...dependencies, sessions: withModelsOfTheirOwn(sessions) }),
      respondApproval: core.makeRespondApproval({ sessions, queries }),
      queries,
      subscribe: core.makeSubscribe({ hub, queries, onError: () => undefined, pageSize: settings.pageSize }),
    };
  }

  #tokens(): TokenCounter {
    const { world, settings } = this.#site;
    const count = (texts: readonly string[]): readonly number[] => texts.map((text) => Math.ceil(text.length / 4));
    return {
      count: (texts) =>
        settings.slowCounter ? world.call(this, 'count tokens', () => count(texts)) : Promise.resolve(count(texts)),
    };
  }

  #failpoints(): Failpoints {
    const { world, settings } = this.#site;
    if (!settings.failpoints) return { hit: () => undefined };
    return { hit: (name) => new Promise((resolve) => world.add(this, `at ${name}`, resolve)) };
  }

  readonly #logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => this.#site.world.trace.line(this.name, `log: ${message}`),
    error: (message, fields) =>
      this.#site.judge.breach('bug', `the gateway logged an error: ${message} ${JSON.stringify(fields)}`),
  };

  #fatal(cause: FatalCause): void {
    const { judge, view } = this.#site;
    // Nothing here damages a store: an owner that finds one damaged is mistaken.
    const isMistaken = cause.kind === 'bug' || (cause.kind === 'storage' && cause.error.kind === 'corrupt');
    if (isMistaken && this.epoch === view.epoch()) {
      const { error } = cause;
      judge.breach('bug', error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    this.#exit(cause.kind);
  }

  /** The process is about to end; until it does, what it has begun goes on. */
  #exit(how: FatalCause['kind'] | 'stopped'): void {
    if (this.phase === 'stopping') return;
    this.phase = 'stopping';
    this.#site.coverage.add('fatal', how);
    this.#site.world.add(this, `exits: ${how}`, () => this.#site.end(this));
  }
}

/** A fork takes its origin's model; here it gets one of its own, so that a server knows whose request it has. */
function withModelsOfTheirOwn(sessions: Sessions): Sessions {
  return {
    ...sessions,
    state: (sessionId) => sessions.state(sessionId),
    idOf: (anyId) => sessions.idOf(anyId),
    send: (sessionId, command) => {
      if (command.kind !== 'create') return sessions.send(sessionId, command);
      const { profile } = command as Command<'create'>; // its kind says so
      return sessions.send(sessionId, { ...command, profile: { ...profile, model: `model-of-${sessionId}` } });
    },
  };
}
