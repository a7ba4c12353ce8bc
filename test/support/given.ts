import { expect } from 'vitest';
import type { Command, CommandKind, CommandReplies } from '../../src/core/domain/session/commands.ts';
import { decide } from '../../src/core/domain/session/decide.ts';
import type { Decision } from '../../src/core/domain/session/decide.ts';
import type { DecideContext } from '../../src/core/domain/session/decision.ts';
import { evolve } from '../../src/core/domain/session/evolve.ts';
import type { SessionEvent } from '../../src/core/domain/session/events.ts';
import type { Refusal } from '../../src/core/domain/session/refusal.ts';
import type { SessionState } from '../../src/core/domain/session/state.ts';
import type { AdmissionKey } from '../../src/core/domain/session/commands.ts';
import { anInstant, aSessionId } from './builders.ts';
import type { Told } from './history.ts';

/** The instant at which `when` decides: a minute after everything that was given. */
export const now = '2030-01-01T00:01:00.000Z';

/** Ids that a decision takes are far from those that a history has. */
export const firstNewMessageId = 1000;
export const nextAdmissionSeq = 50;

export function aContext(overrides: Partial<DecideContext> = {}): DecideContext {
  return {
    now,
    epoch: 1,
    draining: false,
    nextMessageId: firstNewMessageId,
    nextAdmissionSeq,
    limits: { maxQueuedPerSession: 100, maxLostStarts: 3 },
    ...overrides,
  };
}

/**
 * Given these events, when this command, then these events or this refusal.
 *
 * Every decision is made twice on frozen arguments, so that no test passes with a decider that changes what it is
 * given or remembers anything.
 */
export function given(...past: readonly Told[]): Given {
  const state = stateAfter(...past);
  return {
    state,
    when: (command, context = {}) => whenDecided(state, command, aContext(context)),
  };
}

interface Given {
  readonly state: SessionState;
  readonly when: <K extends CommandKind>(command: Command<K>, context?: Partial<DecideContext>) => When<K>;
}

interface When<K extends CommandKind> {
  /** Exactly these events follow; what a header says of session, number, time and epoch is filled in. */
  then(...expected: readonly Told[]): When<K>;
  thenNothing(): When<K>;
  thenAnswers(reply: CommandReplies[K]): When<K>;
  thenRefused(refusal: Refusal): void;
  /** The decision needs an admission that is settled, or isn't there. */
  thenAsksFor(key: AdmissionKey): void;
  /** The state after an accepted command. */
  readonly after: SessionState;
  readonly decision: Decision<CommandReplies[K]>;
}

function whenDecided<K extends CommandKind>(
  state: SessionState | null,
  command: Command<K>,
  context: DecideContext,
): When<K> {
  deepFreeze(command);
  deepFreeze(context);
  const decision = deepFreeze(decide(aSessionId, state, command, context));
  expect(decide(aSessionId, state, command, context)).toEqual(decision);
  if (decision.kind === 'accepted') {
    expect(decision.events.reduce<SessionState | null>(evolve, state)).toEqual(decision.state);
  }
  const when: When<K> = {
    decision,
    get after() {
      if (decision.kind !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(decision)}`);
      return decision.state;
    },
    then(...expected) {
      const events = decision.kind === 'accepted' ? decision.events : decision;
      const headed = numbered(expected, { seq: (state?.seq ?? 0) + 1, at: context.now, epoch: context.epoch });
      expect(events).toEqual(headed);
      return when;
    },
    thenNothing: () => when.then(),
    thenAnswers(reply) {
      expect(decision.kind === 'accepted' ? decision.reply : decision).toEqual(reply);
      return when;
    },
    thenRefused(refusal) {
      expect(decision).toEqual({ kind: 'refused', refusal });
    },
    thenAsksFor(key) {
      expect(decision).toEqual({ kind: 'needs_known', key });
    },
  };
  return when;
}

/** A command to a session that doesn't exist. */
export function whenNothingExists<K extends CommandKind>(command: Command<K>): When<K> {
  return whenDecided(null, command, aContext());
}

export function stateAfter(...past: readonly Told[]): SessionState {
  const state = numbered(past).reduce<SessionState | null>(evolve, null);
  if (state === null) throw new Error('A history begins with `created()`');
  return deepFreeze(state);
}

/** Gives told events their headers. */
export function numbered(
  told: readonly Told[],
  first: { seq: number; at: string; epoch: number } = { seq: 1, at: anInstant, epoch: 1 },
): readonly SessionEvent[] {
  const { seq, at, epoch } = first;
  return told.map((event, index): SessionEvent => ({ sessionId: aSessionId, at, epoch, ...event, seq: seq + index }));
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze<unknown>(item);
  }
  return value;
}
