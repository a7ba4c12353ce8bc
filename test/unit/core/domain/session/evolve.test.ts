import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '../../../../../src/core/domain/invariant.ts';
import { endedAdmissions, evolve } from '../../../../../src/core/domain/session/evolve.ts';
import type { SessionEvent } from '../../../../../src/core/domain/session/events.ts';
import type { SessionState } from '../../../../../src/core/domain/session/state.ts';
import { metaOf } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage, anAdmission, anInstant } from '../../../../support/builders.ts';
import { deepFreeze, numbered, stateAfter } from '../../../../support/given.ts';
import type { Told } from '../../../../support/history.ts';
import {
  answered,
  callFinished,
  callStarted,
  compressionCompleted,
  compressionFailed,
  compressionStarted,
  created,
  lost,
  prompted,
  queued,
  requeued,
  resolved,
  settled,
  started,
  stopRequested,
} from '../../../../support/history.ts';

const running = [created(), queued(1), started(1)];
const sent = [...running, prompted(1, { id: 7 })];
const summary = aMessage({ id: 9, kind: 'summary', admissionId: null });

describe('a history that can not have happened is an invariant violation:', () => {
  test.each<[string, readonly Told[]]>([
    ['a session that is created twice', [created(), created()]],
    ['a first event that creates nothing', [queued(1)]],
    ['an event of an admission that is not open', [created(), queued(1), started(2)]],
    ['an admission that is queued twice', [created(), queued(1), queued(1)]],
    ['an admission whose input id is taken', [created(), queued(1), queued(2, { inputId: 'input-1' })]],
    ['an admission that comes into being as started', [created(), queued(1, { status: 'started' })]],
    ['a turn that starts twice', [...running, started(1, { generation: 2 })]],
    ['a second turn beside one that runs', [...running, queued(2), started(2, { generation: 2 })]],
    ['a second turn beside an unknown one', [...sent, lost(1), queued(2), started(2, { generation: 2 })]],
    ['a generation that is skipped', [created(), queued(1), started(1, { generation: 2 })]],
    ['a generation that comes again', [...running, requeued(1, 1), started(1)]],
    ['a message of a turn that is over', [...sent, settled(1), answered(1, { id: 8 })]],
    ['a message id that does not grow', [...sent, answered(1, { id: 7 })]],
    ['a stop request for a prompt that waits', [created(), queued(1), stopRequested(1)]],
    ['a stop request for an unknown turn', [...sent, lost(1), stopRequested(1)]],
    ['a requeued turn that has sent something', [...sent, requeued(1, 1)]],
    ['a settlement of a prompt that waits', [created(), queued(1), settled(1)]],
    ['a settlement of an unknown turn', [...sent, lost(1), settled(1)]],
    ['a second settlement', [...sent, settled(1), settled(1)]],
    ['a lost turn that did not run', [created(), queued(1), lost(1)]],
    ['a resolution of a turn that runs', [...sent, resolved(1)]],
    ['a second resolution', [...sent, lost(1), resolved(1), resolved(1)]],
    ['a cancellation of a turn that runs', [...running, cancelled(1)]],
    ['a call of a turn that does not run', [...sent, lost(1), callStarted(1, 'call-1')]],
    ['a call that is started twice', [...sent, callStarted(1, 'call-1'), callStarted(1, 'call-1')]],
    ['the end of a call that was not started', [...sent, callFinished(1, 'call-1')]],
    ['a second end of a call', [...sent, callStarted(1, 'c'), callFinished(1, 'c'), callFinished(1, 'c')]],
    ['a second open compression', [...running, compressionStarted(1), compressionStarted(1)]],
    ['the end of a compression that never began', [...running, compressionFailed()]],
    [
      'the end of another compression',
      [...running, compressionStarted(1), compressionFailed({ compressionId: 'other' })],
    ],
    ['a rotation that was not begun', [...running, compressionCompleted(1, { summary })]],
    [
      'a rotation of a transcript that is not the tip',
      [...running, compressionStarted(1), compressionCompleted(1, { summary, parentTranscript: 'elsewhere' })],
    ],
  ])('%s', (_what, past) => {
    const events = numbered(past);
    const before = events.slice(0, -1).reduce<SessionState | null>(evolve, null);
    const last = events.at(-1);

    expect(() => evolve(before, last as SessionEvent)).toThrow(InvariantViolation); // a case has at least one event
  });

  test('a first event that is not the first', () => {
    const [event] = numbered([created()], { seq: 2, at: anInstant, epoch: 1 });

    expect(() => evolve(null, event as SessionEvent)).toThrow(InvariantViolation); // there is one
  });

  test('a sequence number that is skipped', () => {
    const [event] = numbered([queued(1)], { seq: 3, at: anInstant, epoch: 1 });

    expect(() => evolve(stateAfter(created()), event as SessionEvent)).toThrow(InvariantViolation); // there is one
  });

  test('a sequence number that comes again', () => {
    const [event] = numbered([queued(1)], { seq: 1, at: anInstant, epoch: 1 });

    expect(() => evolve(stateAfter(created()), event as SessionEvent)).toThrow(InvariantViolation); // there is one
  });
});

describe('the admissions that events end', () => {
  const end = (...told: readonly Told[]) => {
    const before = stateAfter(created(), queued(1), queued(2), started(1), prompted(1, { id: 7 }));
    return endedAdmissions(before, numbered(told, { seq: before.seq + 1, at: anInstant, epoch: 1 }));
  };
  const turn = { ownerEpoch: 1, executionGeneration: 1, boundary: 'model', step: 1, promptMessageId: 7 } as const;
  const ended = { ...turn, status: 'terminal', startedAt: anInstant, settledAt: anInstant } as const;

  test('are given as they are from then on', () => {
    expect(end(settled(1), cancelled(2))).toEqual([
      anAdmission({ ...ended, outcome: 'completed' }),
      anAdmission({ seq: 2, status: 'terminal', outcome: 'cancelled', revision: 2, settledAt: anInstant }),
    ]);
  });

  test('include one that is lost and resolved in the same append', () => {
    expect(end(lost(1), resolved(1, { by: 'policy' }))).toMatchObject([
      { admissionId: 'admission-1', outcome: 'interrupted', resolution: { by: 'policy' } },
    ]);
  });

  test('are none where nothing ends', () => {
    expect(end(answered(1, { id: 8 }), stopRequested(1), queued(3))).toEqual([]);
  });
});

describe('evolving', () => {
  test('needs no content: an event that was read back leads to the same state as the one that was decided', () => {
    const decided = [...sent, answered(1, { id: 8 }, { contextTokens: 30 })];
    const readBack = decided.map((event) =>
      event.type === 'message.appended' ? { ...event, message: metaOf(event.message) } : event,
    );

    expect(stateAfter(...readBack)).toEqual(stateAfter(...decided));
  });

  test('keeps no content in the state, whatever the event carries', () => {
    const { messages } = stateAfter(...sent);

    expect(messages).toEqual([metaOf(aMessage({ id: 7 }))]);
  });

  test('changes nothing that it was given', () => {
    const before = deepFreeze(stateAfter(...sent));
    const [event] = numbered([settled(1)], { seq: before.seq + 1, at: anInstant, epoch: 1 });

    evolve(before, deepFreeze(event as SessionEvent)); // there is one

    expect(before).toEqual(stateAfter(...sent));
  });

  test('keeps the queue in the order of positions, whatever the order of arrival', () => {
    const state = stateAfter(
      created(),
      queued(1, { position: 30 }),
      queued(2, { position: 10 }),
      queued(3, { position: 20 }),
    );

    expect(state.open.map(({ seq }) => seq)).toEqual([2, 3, 1]);
  });

  test('orders equal positions by number', () => {
    const state = stateAfter(created(), queued(2, { position: 10 }), queued(1, { position: 10 }));

    expect(state.open.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('forgets what is terminal and keeps what is not', () => {
    const state = stateAfter(...sent, queued(2), settled(1));

    expect(state.open).toEqual([anAdmission({ seq: 2 })]);
  });

  test('keeps the running calls of an unknown turn, and forgets them when it is resolved', () => {
    const unknown = [...sent, callStarted(1, 'call-1'), lost(1)];

    expect(stateAfter(...unknown).runningCalls).toEqual([{ callId: 'call-1', name: 'look', startedAt: anInstant }]);
    expect(stateAfter(...unknown, resolved(1)).runningCalls).toEqual([]);
  });

  test('keeps the running calls when a prompt that waits is cancelled', () => {
    const state = stateAfter(...sent, callStarted(1, 'call-1'), queued(2), cancelled(2));

    expect(state.runningCalls.map(({ callId }) => callId)).toEqual(['call-1']);
  });

  test('takes the boundary only further, never back', () => {
    const state = stateAfter(
      ...sent,
      answered(1, { id: 8 }, { boundary: 'tool' }),
      answered(1, { id: 9 }, { boundary: 'model' }),
    );

    expect(state.open[0]?.boundary).toBe('tool');
  });

  test('believes only the newest report of the context’s size', () => {
    const state = stateAfter(
      ...sent,
      answered(1, { id: 8 }, { contextTokens: 30 }),
      answered(1, { id: 9 }, { contextTokens: 40 }),
    );

    expect(state.usageAnchor).toEqual({ tokens: 40, messageId: 9 });
  });
});

function cancelled(n: number): Told {
  return { type: 'admission.cancelled', admissionId: `admission-${String(n)}`, executionGeneration: null };
}
