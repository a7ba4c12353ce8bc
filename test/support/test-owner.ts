import { addSeconds } from '../../src/core/domain/instant.ts';
import type { Admission } from '../../src/core/domain/admission/admission.ts';
import type { Receipt } from '../../src/core/domain/admission/receipt.ts';
import type {
  Command,
  CommandKind,
  CommandReplies,
  CopiedMessage,
  Known,
  ReplyOf,
} from '../../src/core/domain/session/commands.ts';
import { decide } from '../../src/core/domain/session/decide.ts';
import type { Decision } from '../../src/core/domain/session/decide.ts';
import type { DecideContext } from '../../src/core/domain/session/decision.ts';
import { evolve } from '../../src/core/domain/session/evolve.ts';
import type { SessionEvent } from '../../src/core/domain/session/events.ts';
import type { SessionProfile, SessionState } from '../../src/core/domain/session/state.ts';
import { queueHead, startedAdmission, waitingSteers } from '../../src/core/domain/session/state.ts';
import type { AnsweredBy, MessageDraft, MessageMeta } from '../../src/core/domain/transcript/message.ts';
import type { AppendRequest, AppendResult, Ledger, Ownership } from '../../src/core/ports/ledger.ts';
import { append as appendCommand } from './commands.ts';
import { aDraft, anAnswer, anInstant, aPayload, aPrincipal, aProfile, aSummary, aToolResult } from './builders.ts';

type Copyable = MessageMeta & { readonly answeredBy?: AnsweredBy };

/** As a fork takes them over. */
export function copied(messages: readonly Copyable[]): readonly CopiedMessage[] {
  return messages.map((message) => ({ ...message, answeredBy: message.answeredBy ?? null }));
}

/**
 * The smallest owner of a ledger that keeps the rules: it decides with the real decider, hands out ids as an owner
 * does, and appends one command at a time. It knows nothing that it did not decide itself, so what it expects is
 * independent of what an adapter stores.
 */
export class TestOwner {
  readonly ledger: Ledger;
  readonly ownership: Ownership;
  #nextMessageId: number;
  #nextAdmissionSeq: number;
  #decisions = 0;

  private constructor(ledger: Ledger, ownership: Ownership) {
    this.ledger = ledger;
    this.ownership = ownership;
    this.#nextMessageId = ownership.nextMessageId;
    this.#nextAdmissionSeq = ownership.nextAdmissionSeq;
  }

  static async takingOver(ledger: Ledger, instanceId = 'instance-1'): Promise<TestOwner> {
    return new TestOwner(ledger, await ledger.takeOwnership({ instanceId, now: anInstant }));
  }

  /** A session that this owner creates. */
  async create(
    sessionId: string,
    profile: Partial<SessionProfile> = {},
    messages: readonly Copyable[] = [],
  ): Promise<TestSession> {
    const session = this.unmade(sessionId);
    const requestId = `create-${sessionId}`;
    await session.run({ kind: 'create', profile: aProfile({ requestId, ...profile }), messages: copied(messages) });
    return session;
  }

  /** A session that doesn't exist yet. */
  unmade(sessionId: string): TestSession {
    return new TestSession(this, sessionId, null);
  }

  /** A session of an earlier owner, as this one finds it in the ledger. */
  async find(sessionId: string): Promise<TestSession> {
    return new TestSession(this, sessionId, await this.ledger.load(sessionId));
  }

  /** Time goes on by a second with each decision of this owner, and each epoch begins on a later day. */
  context(): DecideContext {
    const { epoch } = this.ownership;
    return {
      now: addSeconds(anInstant, epoch * 86_400 + this.#decisions),
      epoch,
      draining: false,
      nextMessageId: this.#nextMessageId,
      nextAdmissionSeq: this.#nextAdmissionSeq,
      limits: { maxQueuedPerSession: 100, maxLostStarts: 3 },
    };
  }

  /** Takes the ids of decided events out of circulation, committed or not. */
  reserveIdsOf(events: readonly SessionEvent[]): void {
    this.#decisions += 1;
    for (const id of events.flatMap(messageIdsOf)) this.#nextMessageId = Math.max(this.#nextMessageId, id + 1);
    for (const event of events) if (event.type === 'admission.queued') this.#nextAdmissionSeq = event.admission.seq + 1;
  }
}

/** One session in the hands of a `TestOwner`. `state` is the fold of `evolve` over what was decided, never a read. */
export class TestSession {
  readonly owner: TestOwner;
  readonly sessionId: string;
  /** What was committed through this object, as it was decided: with content. */
  readonly events: SessionEvent[] = [];
  #state: SessionState | null;

  constructor(owner: TestOwner, sessionId: string, state: SessionState | null) {
    this.owner = owner;
    this.sessionId = sessionId;
    this.#state = state;
  }

  /** The same session in the hands of the next owner, who knows what this one knew. */
  passTo(owner: TestOwner): TestSession {
    const session = new TestSession(owner, this.sessionId, this.#state);
    session.events.push(...this.events);
    return session;
  }

  get state(): SessionState {
    if (this.#state === null) throw new Error(`${this.sessionId} does not exist`);
    return this.#state;
  }

  /** Decides, appends, evolves. Throws unless the command is accepted and committed. */
  async run<K extends CommandKind>(command: Command<K>): Promise<ReplyOf<K>> {
    const decision = await this.decide(command);
    if (decision.kind !== 'accepted') throw new Error(`${command.kind} was not accepted: ${JSON.stringify(decision)}`);
    if (decision.events.length > 0) {
      const result = await this.append(decision.events);
      if (result.kind !== 'committed') throw new Error(`${command.kind} was not committed: ${JSON.stringify(result)}`);
    }
    return decision.reply;
  }

  /** Decides and appends nothing, for a test that wants to append in its own way. */
  async decide<K extends CommandKind>(command: Command<K>): Promise<Decision<ReplyOf<K>>> {
    let decision = decide(this.sessionId, this.#state, command, this.owner.context());
    if (decision.kind === 'needs_known') {
      const known: Known = await this.owner.ledger.findAdmission(this.sessionId, decision.key);
      decision = decide(this.sessionId, this.#state, { ...command, known }, this.owner.context());
    }
    if (decision.kind === 'accepted') this.owner.reserveIdsOf(decision.events);
    return decision;
  }

  /** The append of a command that must be acceptable, without appending it. */
  async request<K extends CommandKind>(command: Command<K>): Promise<AppendRequest> {
    const decision = await this.decide(command);
    if (decision.kind !== 'accepted') throw new Error(`${command.kind} was not accepted: ${JSON.stringify(decision)}`);
    return this.requestOf(decision.events);
  }

  requestOf(events: readonly SessionEvent[]): AppendRequest {
    return { sessionId: this.sessionId, expectedSeq: this.#state?.seq ?? 0, epoch: this.owner.ownership.epoch, events };
  }

  async append(events: readonly SessionEvent[]): Promise<AppendResult> {
    const result = await this.owner.ledger.append(this.requestOf(events));
    if (result.kind === 'committed') {
      this.events.push(...events);
      this.catchUp(events);
    }
    return result;
  }

  /** Evolves events that somebody else has committed. */
  catchUp(events: readonly SessionEvent[]): void {
    this.#state = events.reduce<SessionState | null>(evolve, this.#state);
  }

  async submit(inputId: string, overrides: Partial<Command<'submit'>> = {}): Promise<Receipt> {
    return this.run(submitCommand(this.sessionId, inputId, overrides));
  }

  /** A prompt for the running turn. */
  async steer(inputId: string, ifOver: 'cancel' | 'queue' = 'cancel'): Promise<Receipt> {
    const { executionGeneration } = this.#turn;
    const command = submitCommand(this.sessionId, inputId, {});
    return this.run({ ...command, kind: 'steer', executionGeneration, ifOver, requestDigest: `steer of ${inputId}` });
  }

  /** Puts everything that waits for the running turn into it. */
  async mergeSteers(): Promise<void> {
    const { admissionId: turn, executionGeneration, step } = this.#turn;
    const steers = waitingSteers(this.state).map(({ admissionId }) => ({
      admissionId,
      message: aDraft({ kind: 'steer', admissionId: turn, text: `steered by ${admissionId}` }),
    }));
    await this.run({ kind: 'merge_steers', executionGeneration, steers, step });
  }

  /** Starts the head of the queue. With `prompt` its message and the boundary `model` join the claim. */
  async start(prompt: Partial<MessageDraft> | null = {}): Promise<Admission> {
    const head = queueHead(this.state);
    const admissionId = head?.admissionId ?? 'nobody waits';
    await this.run({ kind: 'claim', admissionId, prompt: prompt === null ? null : aDraft({ admissionId, ...prompt }) });
    return this.running;
  }

  /** Stores messages of a step of the running turn. */
  async say(...messages: readonly MessageDraft[]): Promise<void> {
    const { admissionId, executionGeneration, step } = this.#turn;
    const own = messages.map((message) => ({ ...message, admissionId }));
    await this.run(appendCommand({ executionGeneration, messages: own, step }));
  }

  /** Stores an answer that asks for calls, with the intent of each. */
  async ask(answer: MessageDraft): Promise<void> {
    const { admissionId, executionGeneration, step } = this.#turn;
    const startedCalls = answer.toolCalls.map(({ id, name }) => ({ callId: id, name }));
    const messages = [{ ...answer, admissionId }];
    await this.run(appendCommand({ executionGeneration, messages, startedCalls, step }));
  }

  /** Stores an answer whose calls all wait for an approval, under the ids `approval-<call id>`. */
  async askFor(answer: MessageDraft): Promise<void> {
    const { admissionId, executionGeneration, step } = this.#turn;
    const askedCalls = answer.toolCalls.map(({ id, name }) => ({ approvalId: `approval-${id}`, callId: id, name }));
    const messages = [{ ...answer, admissionId }];
    // Owners come a day after each other, and a request is to outlast some of them.
    const approvalSeconds = 7 * 86_400;
    await this.run(appendCommand({ executionGeneration, messages, askedCalls, approvalSeconds, step }));
  }

  async respond(approvalId: string, answer: 'approve' | 'deny'): Promise<void> {
    await this.run({ kind: 'respond_approval', approvalId, answer, by: 'somebody' });
  }

  /** Stores the end of a call that runs. */
  async finish(callId: string, overrides: Partial<Command<'finish_call'>> = {}): Promise<void> {
    const { admissionId, executionGeneration, step } = this.#turn;
    const name = this.state.runningCalls.find((call) => call.callId === callId)?.name ?? 'nothing runs';
    const message = aToolResult(callId, { admissionId });
    const command = { callId, name, result: 'answered', message, step, ...overrides } as const;
    await this.run({ kind: 'finish_call', executionGeneration, ...command });
  }

  async settle(overrides: Partial<Command<'settle'>> = {}): Promise<CommandReplies['settle']> {
    const { admissionId, executionGeneration, step } = this.#turn;
    return this.run({
      kind: 'settle',
      executionGeneration,
      outcome: 'completed',
      answer: anAnswer({ admissionId }),
      step,
      failure: null,
      usage: null,
      contextTokens: null,
      holdOnOutage: false,
      ...overrides,
    });
  }

  /** A whole turn from its prompt to its answer. */
  async turn(inputId: string, overrides: { prompt?: string; answer?: string } = {}): Promise<void> {
    const { prompt = `prompt of ${inputId}`, answer = `answer to ${inputId}` } = overrides;
    await this.submit(inputId, { payload: aPayload({ text: prompt }) });
    const { admissionId } = await this.start({ text: prompt });
    await this.settle({ answer: anAnswer({ admissionId, text: answer }) });
  }

  async startCompression(compressionId: string): Promise<void> {
    const { executionGeneration } = this.#turn;
    await this.run({
      kind: 'start_compression',
      compressionId,
      trigger: 'preflight',
      executionGeneration,
      tokensBefore: 100,
    });
  }

  /** Commits the open compression; everything between the first `head` and the last `tail` messages is compressed away. */
  async rotate(
    shape: { head: number; tail: number; childTranscript: string | null },
    overrides: Partial<Command<'rotate'>> = {},
  ): Promise<void> {
    const { executionGeneration } = this.#turn;
    const ids = this.state.messages.map((message) => message.id);
    const tailFrom = Math.max(shape.head, ids.length - shape.tail);
    await this.run({
      kind: 'rotate',
      compressionId: this.state.lineage.open?.compressionId ?? 'nothing is open',
      executionGeneration,
      plan: { head: ids.slice(0, shape.head), middle: ids.slice(shape.head, tailFrom), tail: ids.slice(tailFrom) },
      childTranscript: shape.childTranscript,
      summary: aSummary(),
      tokensBefore: 100,
      tokensAfter: 40,
      model: 'summary-model',
      usage: null,
      ...overrides,
    });
  }

  /** What recovery does with a session that an owner before this one has left. */
  async recover(onUnknown: 'hold' | 'discard' = 'hold'): Promise<CommandReplies['recover']> {
    return this.run({ kind: 'recover', onUnknown });
  }

  get running(): Admission {
    const admission = startedAdmission(this.state);
    if (admission === undefined) throw new Error(`Nothing runs in ${this.sessionId}`);
    return admission;
  }

  get #turn(): { admissionId: string; executionGeneration: number; step: number } {
    const { admissionId, executionGeneration, step } = this.running;
    return { admissionId, executionGeneration: executionGeneration ?? 0, step };
  }
}

/** Ids and digests follow from the session and the input id, so that a repeat is a repeat. */
export function submitCommand(
  sessionId: string,
  inputId: string,
  overrides: Partial<Command<'submit'>> = {},
): Command<'submit'> {
  return {
    kind: 'submit',
    admissionId: `admission-${sessionId}-${inputId}`,
    inputId,
    principalId: aPrincipal,
    requestDigest: `request-digest-of-${inputId}`,
    payload: aPayload({ text: `prompt of ${inputId}` }),
    payloadDigest: `payload-digest-of-${inputId}`,
    known: undefined,
    ...overrides,
  };
}

function messageIdsOf(event: SessionEvent): readonly number[] {
  if (event.type === 'message.appended') return [event.message.id];
  if (event.type !== 'compression.completed') return [];
  return [
    ...event.head.map(({ message }) => message.id),
    event.summary.id,
    ...event.tail.map(({ message }) => message.id),
  ];
}
