import { ApproximateTokenCounter } from '../../src/adapters/outbound/memory/approximate-token-counter.ts';
import { CountingIds } from '../../src/adapters/outbound/memory/counting-ids.ts';
import { FakeClock } from '../../src/adapters/outbound/memory/fake-clock.ts';
import { FixedCatalog } from '../../src/adapters/outbound/memory/fixed-catalog.ts';
import { MemoryEventHub } from '../../src/adapters/outbound/memory/memory-event-hub.ts';
import { MemoryLedger } from '../../src/adapters/outbound/memory/memory-ledger.ts';
import { MemoryQueries } from '../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../src/adapters/outbound/memory/memory-store.ts';
import { RecordingLogger } from '../../src/adapters/outbound/memory/recording-logger.ts';
import { ScriptedTools } from '../../src/adapters/outbound/memory/scripted-tools.ts';
import { ScriptedModel, textAnswer } from '../../src/adapters/outbound/memory/scripted-model.ts';
import type { Admission, PromptPayload } from '../../src/core/domain/admission/admission.ts';
import type { Receipt } from '../../src/core/domain/admission/receipt.ts';
import type { CompressionPolicy } from '../../src/core/domain/compression/trigger.ts';
import type { SessionEvent } from '../../src/core/domain/session/events.ts';
import type { SessionState } from '../../src/core/domain/session/state.ts';
import { startedAdmission } from '../../src/core/domain/session/state.ts';
import type { Message } from '../../src/core/domain/transcript/message.ts';
import type { Digest } from '../../src/core/ports/digest.ts';
import { noFailpoints } from '../../src/core/ports/failpoints.ts';
import type { ModelLimits } from '../../src/core/ports/model-catalog.ts';
import type { ModelRequest } from '../../src/core/ports/model-provider.ts';
import { makeCreateSession, makeFindCreated } from '../../src/core/use-cases/create-session.ts';
import type { CreateSession, CreateSessionInput, FindCreated } from '../../src/core/use-cases/create-session.ts';
import { makeEditPrompt } from '../../src/core/use-cases/edit-prompt.ts';
import type { EditPrompt } from '../../src/core/use-cases/edit-prompt.ts';
import { makeForkSession } from '../../src/core/use-cases/fork-session.ts';
import type { ForkSession } from '../../src/core/use-cases/fork-session.ts';
import { makeGateway } from '../../src/core/use-cases/gateway.ts';
import type { Gateway, GatewayDependencies } from '../../src/core/use-cases/gateway.ts';
import type { FatalCause } from '../../src/core/use-cases/fatal-cause.ts';
import type { Sent } from '../../src/core/use-cases/sessions.ts';
import { makeSteerPrompt } from '../../src/core/use-cases/steer-prompt.ts';
import type { SteerPrompt } from '../../src/core/use-cases/steer-prompt.ts';
import { makeSubmitPrompt } from '../../src/core/use-cases/submit-prompt.ts';
import type { SubmitPrompt } from '../../src/core/use-cases/submit-prompt.ts';
import { aPrincipal } from './builders.ts';
import { TroubledLedger } from './troubled-ledger.ts';

/** Says what it was made of, so that a failing test does too. */
const readableDigest: Digest = { of: (text) => `digest(${text})` };

export const aPolicy: CompressionPolicy = {
  enabled: true,
  protectFirstN: 1,
  protectLastN: 2,
  threshold: 0.8,
  thresholdTokens: null,
  inPlace: false,
};

export function aCreateRequest(overrides: Partial<CreateSessionInput> = {}): CreateSessionInput {
  return {
    principalId: aPrincipal,
    requestId: null,
    source: 'cli',
    title: null,
    provider: null,
    model: null,
    baseUrl: null,
    cwd: null,
    systemPrompt: null,
    toolsets: null,
    ...overrides,
  };
}

export interface MemoryGatewayOptions extends Partial<Omit<GatewayDependencies, 'policy'>> {
  readonly store?: MemoryStore;
  readonly model?: ScriptedModel;
  readonly clock?: FakeClock;
  readonly window?: Partial<ModelLimits>;
  readonly policy?: Partial<CompressionPolicy>;
}

/** The whole core on memory adapters, with what a test wants to look at and to move. */
export class MemoryGateway {
  readonly store: MemoryStore;
  readonly ledger: TroubledLedger;
  readonly queries: MemoryQueries;
  readonly hub: MemoryEventHub;
  readonly clock: FakeClock;
  readonly model: ScriptedModel;
  readonly logger = new RecordingLogger();
  readonly fatal: FatalCause[] = [];
  readonly gateway: Gateway;
  readonly createSession: CreateSession;
  readonly findCreated: FindCreated;
  readonly submitPrompt: SubmitPrompt;
  readonly steerPrompt: SteerPrompt;
  readonly editPrompt: EditPrompt;
  readonly forkSession: ForkSession;

  private constructor(parts: Made, options: MemoryGatewayOptions) {
    const { store, ledger, ownership, model, clock } = parts;
    this.store = store;
    this.ledger = ledger;
    this.model = model;
    this.clock = clock;
    this.queries = new MemoryQueries(store);
    this.hub = new MemoryEventHub(this.logger);
    const { window, policy, ...overrides } = options;
    const ids = new CountingIds(`e${String(ownership.epoch)}`);
    const tokens = new ApproximateTokenCounter();
    const defaultTarget = { provider: 'custom', model: 'test-model', baseUrl: null };
    this.gateway = makeGateway({
      queries: this.queries,
      hub: this.hub,
      logger: this.logger,
      provider: model,
      catalog: new FixedCatalog({ contextTokens: 100_000, outputTokens: null, source: 'configured', ...window }),
      tokens,
      tools: new ScriptedTools(),
      digest: readableDigest,
      ids,
      failpoints: noFailpoints,
      instanceId: 'instance-1',
      limits: { maxQueuedPerSession: 100, maxLostStarts: 3 },
      maxLoadedSessions: 100,
      maxConcurrentTurns: 16,
      maxCachedCharacters: 1_000_000,
      maxOutputTokens: null,
      maxSteps: 10,
      // Tests of retries and outages say so.
      retry: { maxAttempts: 1, baseDelayMs: 0, maxDelayMs: 0, maxTotalMs: 0 },
      jitter: () => 0,
      fallbacksOf: () => [],
      onOutage: 'continue',
      approvalRules: { policy: {}, expirySeconds: 600, maxOpen: 16 },
      learntWindowSeconds: 7 * 24 * 3600,
      callLimits: { maxPerStep: 128, maxParallel: 16 },
      summaryTarget: null,
      summaryDeadlineMs: 120_000,
      titles: null,
      mask: (text) => text,
      onUnknown: 'hold',
      defaultTarget,
      onFatal: (cause) => this.fatal.push(cause),
      ...overrides,
      policy: { ...aPolicy, ...policy },
      ledger,
      clock,
      ownership,
    });
    const { sessions } = this.gateway;
    this.createSession = makeCreateSession({
      sessions,
      ledger,
      digest: readableDigest,
      ids,
      clock,
      tokens,
      defaultTarget,
      // A toolset of these tests is what it stands for.
      toolsFor: ({ toolsets }) => ({ toolsets: toolsets ?? [], tools: toolsets ?? [] }),
    });
    this.findCreated = makeFindCreated({ ledger, digest: readableDigest });
    this.forkSession = makeForkSession({
      sessions,
      ledger,
      queries: this.queries,
      digest: readableDigest,
      ids,
      clock,
    });
    this.editPrompt = makeEditPrompt({ sessions, digest: readableDigest });
    this.submitPrompt = makeSubmitPrompt({ sessions, digest: readableDigest, ids });
    this.steerPrompt = makeSteerPrompt({ sessions, digest: readableDigest, ids });
  }

  /** An owner of the store that has recovered it and runs its queues. */
  static async started(options: MemoryGatewayOptions = {}): Promise<MemoryGateway> {
    const gateway = await MemoryGateway.owning(options);
    await gateway.gateway.start();
    return gateway;
  }

  /** An owner of the store that has not recovered it yet. */
  static async owning(options: MemoryGatewayOptions = {}): Promise<MemoryGateway> {
    const store = options.store ?? new MemoryStore('store-1');
    const ledger = new TroubledLedger(new MemoryLedger(store));
    const clock = options.clock ?? new FakeClock();
    const model = options.model ?? new ScriptedModel(() => textAnswer('Fine.'));
    const ownership = await ledger.takeOwnership({ instanceId: 'instance-1', now: clock.now() });
    return new MemoryGateway({ store, ledger, clock, model, ownership }, options);
  }

  get sessions(): Gateway['sessions'] {
    return this.gateway.sessions;
  }

  async create(overrides: Partial<CreateSessionInput> = {}): Promise<string> {
    return done(await this.createSession(aCreateRequest(overrides))).sessionId;
  }

  async submit(sessionId: string, inputId: string, text: string = `prompt ${inputId}`): Promise<Receipt> {
    return done(await this.trySubmit(sessionId, inputId, { text, parts: null }));
  }

  trySubmit(sessionId: string, inputId: string, payload: PromptPayload): Promise<Sent<Receipt>> {
    return this.submitPrompt({ sessionId, principalId: aPrincipal, inputId, payload });
  }

  /** Submits and waits for the end. */
  async turn(sessionId: string, inputId: string, text?: string): Promise<Admission> {
    await this.submit(sessionId, inputId, text);
    return this.ended(sessionId, inputId);
  }

  async interrupt(sessionId: string, by: string = aPrincipal): Promise<void> {
    const executionGeneration = startedAdmission(await this.state(sessionId))?.executionGeneration ?? 0;
    done(await this.sessions.send(sessionId, { kind: 'interrupt', executionGeneration, by }));
  }

  async state(sessionId: string): Promise<SessionState> {
    const state = await this.sessions.state(sessionId);
    if (state === null) throw new Error(`No session ${sessionId}`);
    return state;
  }

  /** The admission once it is terminal. */
  async ended(sessionId: string, inputId: string): Promise<Admission> {
    const { admissionId } = this.admission(sessionId, inputId);
    const ends = ['turn.settled', 'turn.resolved', 'admission.cancelled', 'admission.merged'];
    await this.happened(sessionId, (event) => event.admissionId === admissionId && ends.includes(event.type));
    return this.admission(sessionId, inputId);
  }

  admission(sessionId: string, inputId: string): Admission {
    const admission = this.store.findAdmission(sessionId, { principalId: aPrincipal, inputId });
    if (admission === null) throw new Error(`No admission ${inputId}`);
    return admission;
  }

  /** Resolves with the first such event of the session's log, also when it is in the future. */
  happened(sessionId: string, isIt: (event: SessionEvent) => boolean): Promise<SessionEvent> {
    const past = this.store.events(sessionId).find(isIt);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      const stop = this.hub.listen(sessionId, {
        live: () => undefined,
        durable: (events) => {
          const event = events.find(isIt);
          if (event === undefined) return;
          stop();
          resolve(event);
        },
      });
    });
  }

  log(sessionId: string): readonly SessionEvent[] {
    return this.store.events(sessionId);
  }

  /** The types of a session's events, in order. */
  story(sessionId: string): readonly string[] {
    return this.log(sessionId).map(({ type }) => type);
  }

  /** The tip as the store has it. */
  async transcript(sessionId: string): Promise<readonly Message[]> {
    return this.store.activeMessages((await this.state(sessionId)).lineage.tipId);
  }

  /** The texts of the tip with who says them. */
  async texts(sessionId: string): Promise<readonly string[]> {
    return (await this.transcript(sessionId)).map(({ role, text }) => `${role}: ${text}`);
  }

  requests(purpose: ModelRequest['purpose']): readonly ModelRequest[] {
    return this.model.requests.filter((request) => request.purpose === purpose);
  }
}

interface Made {
  readonly store: MemoryStore;
  readonly ledger: TroubledLedger;
  readonly clock: FakeClock;
  readonly model: ScriptedModel;
  readonly ownership: GatewayDependencies['ownership'];
}

export function done<R>(sent: Sent<R>): R {
  if (sent.kind !== 'done') throw new Error(`Not done: ${JSON.stringify(sent)}`);
  return sent.reply;
}

/** Resolves when everything that can run without a timer or an input has run. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The texts of a request, with who says them. */
export function said(request: ModelRequest | undefined): readonly string[] {
  return (request?.messages ?? []).map((message) => `${message.role}: ${message.text}`);
}
