import * as fc from 'fast-check';
import {
  cancelAdmission,
  mergeAdmission,
  resolveAdmission,
  settleAdmission,
} from '../../../../../src/core/domain/admission/admission.ts';
import type { Admission } from '../../../../../src/core/domain/admission/admission.ts';
import { hasKey } from '../../../../../src/core/domain/admission/find.ts';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';
import type { AdmissionKey, Command, SessionCommand } from '../../../../../src/core/domain/session/commands.ts';
import { decide } from '../../../../../src/core/domain/session/decide.ts';
import type { DecideContext } from '../../../../../src/core/domain/session/decision.ts';
import { evolve } from '../../../../../src/core/domain/session/evolve.ts';
import type { SessionEvent } from '../../../../../src/core/domain/session/events.ts';
import type { SessionState } from '../../../../../src/core/domain/session/state.ts';
import { occupant, queueHead } from '../../../../../src/core/domain/session/state.ts';
import { aDraft, anAnswer, aProfile, aSessionId, aToolCall, aToolResult } from '../../../../support/builders.ts';
import * as commands from '../../../../support/commands.ts';
import { aContext, deepFreeze } from '../../../../support/given.ts';

/** What somebody wants next. The numbers choose among what there is, so that most wishes can be granted. */
export interface Wish {
  readonly what: (typeof wishes)[number];
  readonly a: number;
  readonly b: number;
}

/** Kinds that move a turn on come more than once, so that turns get somewhere. */
const wishes = [
  'submit',
  'submit',
  'submit',
  'receipt',
  'cancel',
  'interrupt',
  'resolve',
  'resolve',
  'hold',
  'release',
  'release',
  'claim',
  'claim',
  'claim and send',
  'dispatch',
  'dispatch',
  'append',
  'append',
  'finish call',
  'finish call',
  'steer',
  'steer',
  'merge steers',
  'respond approval',
  'expire approval',
  'settle',
  'settle',
  'start compression',
  'rotate',
  'rotate',
  'fail compression',
  'new owner',
  'drain',
] as const;

export const aWishList: fc.Arbitrary<readonly Wish[]> = fc.array(
  fc.record({ what: fc.constantFrom(...wishes), a: fc.nat(20), b: fc.nat(20) }),
  { minLength: 1, maxLength: 80, size: 'max' },
);

/** One decision of a random life, with what was true before it. */
export interface Step {
  readonly command: SessionCommand;
  readonly before: SessionState;
  readonly after: SessionState;
  readonly events: readonly SessionEvent[];
}

/** A session that lives as somebody wishes, in the hands of one owner after another. */
export class RandomSession {
  readonly steps: Step[] = [];
  readonly log: SessionEvent[] = [];
  /** Every admission that has ended, as it ended. */
  readonly ended = new Map<string, Admission>();
  #state: SessionState;
  #epoch = 1;
  #draining = false;
  #nextMessageId = 1;
  #nextAdmissionSeq = 1;
  #names = 0;

  constructor() {
    const creation = this.#decide(null, { kind: 'create', profile: aProfile() });
    if (creation.kind !== 'accepted') throw new Error('A session can be created');
    this.log.push(...creation.events);
    this.#state = creation.state;
  }

  live(list: readonly Wish[]): this {
    for (const wish of list) {
      if (wish.what === 'drain') this.#draining = wish.a < 3;
      if (wish.what === 'new owner') this.#epoch += 1;
      const command = this.#commandOf(wish);
      if (command !== null) this.#take(command);
    }
    return this;
  }

  #take(command: SessionCommand): void {
    const before = this.#state;
    const decision = this.#decide(before, command);
    if (decision.kind !== 'accepted') return;
    for (const event of decision.events) this.#note(event);
    this.#state = decision.state;
    this.steps.push({ command, before, after: decision.state, events: decision.events });
  }

  #decide(state: SessionState | null, command: SessionCommand) {
    deepFreeze(state);
    deepFreeze(command);
    const context: DecideContext = aContext({
      epoch: this.#epoch,
      draining: this.#draining,
      nextMessageId: this.#nextMessageId,
      nextAdmissionSeq: this.#nextAdmissionSeq,
      limits: { maxQueuedPerSession: 6, maxLostStarts: 3 },
    });
    const first = decide(aSessionId, state, command, context);
    // A ledger's part: it knows the settled admission, and its unique index refuses a second one with the same id.
    const known = this.#ledgerKnows(first.kind === 'needs_known' ? first.key : null, command);
    if (first.kind !== 'needs_known' && known === null) return first;
    return decide(aSessionId, state, { ...command, known }, context); // such a command has `known`
  }

  #ledgerKnows(key: AdmissionKey | null, command: SessionCommand): Admission | null {
    const asked = key ?? (command.kind === 'submit' || command.kind === 'steer' ? inputKeyOf(command) : null);
    if (asked === null) return null;
    return [...this.ended.values()].find((admission) => hasKey(admission, asked)) ?? null;
  }

  /** Keeps what the state forgets, as a ledger does. */
  #note(event: SessionEvent): void {
    const before = this.#stateAfterLog();
    this.log.push(event);
    const admission = before?.open.find(({ admissionId }) => admissionId === event.admissionId);
    const end = admission === undefined ? null : endOf(admission, event);
    if (end !== null) this.ended.set(end.admissionId, end);
    if (event.type === 'admission.queued') this.#nextAdmissionSeq += 1;
    if (event.type === 'message.appended') this.#nextMessageId += 1;
    if (event.type === 'compression.completed') this.#nextMessageId += event.head.length + 1 + event.tail.length;
  }

  #folded: SessionState | null = null;

  #stateAfterLog(): SessionState | null {
    for (const event of this.log.slice(this.#folded?.seq ?? 0)) this.#folded = evolve(this.#folded, event);
    return this.#folded;
  }

  #commandOf({ what, a, b }: Wish): SessionCommand | null {
    const state = this.#state;
    const turn = occupant(state);
    const executionGeneration = pick([turn?.executionGeneration ?? 0, state.executionGeneration, a], b) ?? 0;
    const anyone = pick([...state.open, ...this.ended.values()], a)?.admissionId ?? 'nobody';
    switch (what) {
      case 'submit':
        return commands.submit(a, { admissionId: this.#name('admission'), inputId: `input-${String(a)}` });
      case 'receipt':
        return commands.receipt(0, { key: { admissionId: anyone } });
      case 'cancel':
        return commands.cancel(0, { key: { admissionId: anyone } });
      case 'interrupt':
        return commands.interrupt(executionGeneration);
      case 'resolve':
        return commands.resolveUnknown(0, {
          admissionId: turn?.admissionId ?? anyone,
          executionGeneration,
          action: b % 2 === 0 ? 'discard' : 'retry',
          retryAdmissionId: this.#name('retry'),
        });
      case 'hold':
        return commands.hold();
      case 'release':
        return commands.release;
      case 'claim':
        return { kind: 'claim', admissionId: queueHead(state)?.admissionId ?? anyone, prompt: null };
      case 'claim and send': {
        const admissionId = queueHead(state)?.admissionId ?? anyone;
        return { kind: 'claim', admissionId, prompt: aDraft({ admissionId }) };
      }
      case 'dispatch':
        if (turn === undefined || turn.promptMessageId !== null) return null;
        return { kind: 'dispatch', executionGeneration, prompt: aDraft({ admissionId: turn.admissionId }) };
      case 'append':
        if (turn === undefined || turn.boundary === 'none') return null;
        // A runner asks for the next step only when every call of the last one has its result.
        if (this.#endsWithOpenCalls()) return null;
        return commands.append({ executionGeneration, ...this.#step(turn, a, b), step: turn.step + 1 });
      case 'finish call':
        return this.#callEnd(executionGeneration, a, b);
      case 'steer':
        return commands.steer(a, {
          admissionId: this.#name('admission'),
          inputId: `steer-${String(a)}`,
          executionGeneration,
          ifOver: b % 2 === 0 ? 'cancel' : 'queue',
        });
      case 'merge steers': {
        if (turn === undefined || turn.boundary === 'none' || this.#endsWithOpenCalls()) return null;
        const message = aDraft({ kind: 'steer', admissionId: turn.admissionId });
        const steers = state.open.map(({ admissionId }) => ({ admissionId, message }));
        return { ...commands.mergeSteers(), executionGeneration, steers };
      }
      case 'respond approval':
        return commands.respondApproval({
          approvalId: pick(state.approvals, a)?.approvalId ?? 'nothing waits',
          answer: b % 2 === 0 ? 'approve' : 'deny',
        });
      case 'expire approval':
        return { kind: 'expire_approval', approvalId: pick(state.approvals, a)?.approvalId ?? 'nothing waits' };
      case 'settle':
        return turn === undefined ? null : this.#settlement(turn, executionGeneration, a);
      case 'start compression':
        return commands.startCompression({ executionGeneration, compressionId: this.#name('compression') });
      case 'rotate':
        return this.#rotation(executionGeneration, a, b);
      case 'fail compression':
        return commands.failCompression({
          compressionId: state.lineage.open?.compressionId ?? 'none',
          opensBreaker: b % 2 === 0,
        });
      case 'new owner':
        return commands.recover(a % 2 === 0 ? 'hold' : 'discard');
      case 'drain':
        return null;
    }
  }

  /** A step of a turn: some calls are answered at once, some are started, some wait, and some are none of it. */
  #step(
    { admissionId }: Admission,
    a: number,
    b: number,
  ): Pick<Command<'append'>, 'messages' | 'startedCalls' | 'askedCalls'> {
    const toolCalls = Array.from({ length: (b % 3) + 1 }, () => aToolCall({ id: this.#name('call') }));
    const results = toolCalls.slice(0, b % 4).map(({ id }) => aToolResult(id, { admissionId }));
    const rest = toolCalls.slice(results.length, a % 4 === 0 ? -1 : undefined);
    const waiting = a % 5 < 2 ? 1 : 0;
    return {
      messages: [anAnswer({ toolCalls, text: '', admissionId }), ...results],
      startedCalls: rest.slice(waiting).map(({ id, name }) => ({ callId: id, name })),
      askedCalls: rest
        .slice(0, waiting)
        .map(({ id, name }) => ({ approvalId: this.#name('approval'), callId: id, name })),
    };
  }

  #callEnd(executionGeneration: number, a: number, b: number): SessionCommand | null {
    const call = pick(this.#state.runningCalls, a);
    const turn = occupant(this.#state);
    if (call === undefined || turn === undefined) return null;
    const { callId, name } = call;
    const result = pick(['answered', 'failed', 'broken'] as const, b) ?? 'answered';
    const message = aToolResult(callId, { admissionId: turn.admissionId });
    return commands.finishCall({ executionGeneration, callId, name, result, message, step: turn.step });
  }

  #settlement(turn: Admission, executionGeneration: number, a: number): SessionCommand | null {
    const outcome = (['completed', 'failed', 'interrupted'] as const)[a % 3] ?? 'completed';
    const hasOpenCalls = this.#state.messages.at(-1)?.kind === 'answer';
    // No runner answers a turn that never sent its prompt, or says that it is complete while a call is open.
    if (outcome === 'completed' && (turn.boundary === 'none' || hasOpenCalls || this.#endsWithOpenCalls())) return null;
    const reason = a % 2 === 0 ? 'unavailable' : 'context_exhausted';
    return commands.settle({
      executionGeneration,
      outcome,
      answer: outcome === 'completed' || a > 10 ? anAnswer({ admissionId: turn.admissionId }) : null,
      failure: outcome === 'failed' ? failureOf(reason, 'It failed.') : null,
      step: turn.step,
      contextTokens: a,
    });
  }

  #endsWithOpenCalls(): boolean {
    const results = new Set(this.#state.messages.map(({ toolCallId }) => toolCallId));
    return this.#state.messages.some(({ toolCallIds }) => toolCallIds.some((id) => !results.has(id)));
  }

  #rotation(executionGeneration: number, a: number, b: number): SessionCommand | null {
    if (this.#endsWithOpenCalls()) return null;
    const ids = this.#state.messages.map(({ id }) => id);
    // A planner never parts a call from its results.
    const cuts = [...ids.keys(), ids.length].filter((index) => this.#state.messages[index]?.role !== 'tool');
    const [head = 0, tail = 0] = [pick(cuts, a) ?? 0, pick(cuts, b) ?? 0].sort((x, y) => x - y);
    return commands.rotate({
      compressionId: this.#state.lineage.open?.compressionId ?? 'none',
      executionGeneration,
      plan: { head: ids.slice(0, head), middle: ids.slice(head, tail), tail: ids.slice(tail) },
      childTranscript: a % 3 === 0 ? null : this.#name('transcript'),
    });
  }

  #name(what: string): string {
    this.#names += 1;
    return `${what}-${String(this.#names)}`;
  }
}

function inputKeyOf({ inputId, principalId }: Command<'submit' | 'steer'>): AdmissionKey {
  return { inputId, principalId };
}

function endOf(admission: Admission, event: SessionEvent): Admission | null {
  if (event.type === 'admission.cancelled') return cancelAdmission(admission, event.at, event.failure ?? null);
  if (event.type === 'admission.merged') return mergeAdmission(admission, event);
  if (event.type === 'turn.settled') return settleAdmission(admission, event);
  if (event.type === 'turn.resolved') return resolveAdmission(admission, event.resolution, event.retriedBy);
  return null;
}

function pick<T>(items: readonly T[], index: number): T | undefined {
  return items[index % items.length];
}
