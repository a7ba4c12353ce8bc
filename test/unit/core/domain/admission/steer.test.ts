import { describe, expect, test } from 'vitest';
import type { Admission } from '../../../../../src/core/domain/admission/admission.ts';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';
import type { Refusal } from '../../../../../src/core/domain/session/refusal.ts';
import { aPrincipal } from '../../../../support/builders.ts';
import * as commands from '../../../../support/commands.ts';
import { firstNewMessageId, given, now } from '../../../../support/given.ts';
import {
  answered,
  created,
  held,
  lost,
  prompted,
  queued,
  requeued,
  settled,
  someEvidence,
  started,
  stopRequested,
} from '../../../../support/history.ts';
import type { Told } from '../../../../support/history.ts';

const running: readonly Told[] = [created(), queued(1), started(1), prompted(1)];

function steering(n: number, ifOver: 'cancel' | 'queue' = 'cancel', generation = 1): Told {
  return queued(n, { delivery: 'steer', steers: { generation, ifOver } });
}

function steerOf(n: number, state: { readonly open: readonly Admission[] }): Admission | undefined {
  return state.open.find(({ admissionId }) => admissionId === `admission-${String(n)}`);
}

const turnOver = failureOf('turn_over', 'The turn was over before its next step, so the text did not reach it.');
const cancelled = (n: number): Told => ({
  type: 'admission.cancelled',
  failure: turnOver,
  admissionId: `admission-${String(n)}`,
  executionGeneration: null,
});
const unsteered = (n: number): Told => ({
  type: 'admission.requeued',
  requeueCount: 0,
  admissionId: `admission-${String(n)}`,
  executionGeneration: null,
});

describe('a steer', () => {
  test('is an admission that waits beside the queue: it has nobody ahead, and nobody has it ahead', () => {
    const when = given(...running, queued(2)).when(commands.steer(3));

    const reply = when.decision.kind === 'accepted' ? when.decision.reply : null;
    expect(reply).toMatchObject({ ahead: 0, duplicate: false, blockedBy: [] });
    expect(steerOf(3, when.after)).toMatchObject({
      status: 'queued',
      delivery: 'steer',
      steers: { generation: 1, ifOver: 'cancel' },
    });
    const next = given(...running, steering(2)).when(commands.submit(3));
    expect(next.decision.kind === 'accepted' ? next.decision.reply.ahead : null).toBe(1);
  });

  test.each<[what: string, past: readonly Told[], generation: number, refusal: Refusal['reason']]>([
    ['a turn that has not started yet', running, 2, 'stale_generation'],
    ['a turn that has ended', [...running, settled(1)], 1, 'turn_over'],
    ['the turn before this one', [...running, settled(1), queued(2), started(2, { generation: 2 })], 1, 'turn_over'],
    ['a turn that is to stop', [...running, stopRequested(1)], 1, 'turn_over'],
    ['a turn whose fate is unknown', [...running, lost(1)], 1, 'unknown_execution'],
    ['a session in which nothing ran yet', [created()], 0, 'turn_over'],
  ])('for %s is refused', (_what, past, executionGeneration, reason) => {
    const { decision } = given(...past).when(commands.steer(5, { executionGeneration, known: null }));

    expect(decision).toMatchObject({ kind: 'refused', refusal: { reason } });
  });

  test('is refused while the gateway stops, and when as many prompts wait as may', () => {
    const { decision } = given(...running).when(commands.steer(2, { known: null }), { draining: true });
    expect(decision).toMatchObject({ refusal: { reason: 'draining' } });
    const limits = { maxQueuedPerSession: 1, maxLostStarts: 3 };
    given(...running, queued(2))
      .when(commands.steer(3, { known: null }), { limits })
      .thenRefused({ reason: 'queue_full', limit: 1 });
  });

  test('is the same admission for the same id: also when its turn is over, and while the gateway stops', () => {
    const command = commands.steer(2);
    const { decision } = given(...running, steering(2)).when(command, { draining: true });
    expect(decision).toMatchObject({ kind: 'accepted', events: [], reply: { duplicate: true } });

    given(...running, settled(1))
      .when(command)
      .thenAsksFor({ inputId: 'input-2', principalId: aPrincipal });
    const other = given(...running, steering(2)).when(commands.steer(2, { requestDigest: 'of something else' }));
    expect(other.decision).toMatchObject({ refusal: { reason: 'admission_conflict' } });
  });

  test('ends in the append that puts its text into the turn', () => {
    const when = given(...running, steering(2), steering(3)).when(commands.mergeSteers(2, 3));

    const events = when.decision.kind === 'accepted' ? when.decision.events : [];
    expect(events.map(({ type, admissionId }) => `${type} ${String(admissionId)}`)).toEqual([
      'message.appended admission-1',
      'message.appended admission-1',
      'admission.merged admission-2',
      'admission.merged admission-3',
    ]);
    expect(events[3]).toMatchObject({ into: 'admission-1', messageId: firstNewMessageId + 1 });
    expect(when.after.open.map(({ admissionId }) => admissionId)).toEqual(['admission-1']);
    expect(when.after.open[0]).toMatchObject({ promptMessageId: 1, status: 'started' });
    when.thenAnswers({ merged: 2 });
  });

  test('is merged once, and not when it was cancelled or is none', () => {
    const past = [...running, steering(2), queued(3), ...merged(2)];

    given(...past)
      .when(commands.mergeSteers(2, 3, 4))
      .thenNothing()
      .thenAnswers({ merged: 0 });
  });

  test('is not merged after a stop, nor by an owner that does not run the turn', () => {
    given(...running, steering(2), stopRequested(1))
      .when(commands.mergeSteers(2))
      .thenRefused({ reason: 'stop_requested' });
    given(...running, steering(2))
      .when(commands.mergeSteers(2), { epoch: 2 })
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });

  test('may be cancelled until then', () => {
    const when = given(...running, steering(2)).when(commands.cancel(2));

    expect(steerOf(2, when.after)).toBeUndefined();
  });
});

describe('a steer whose turn is over first', () => {
  test('is cancelled or waits in the queue, in the append that ends the turn', () => {
    const when = given(...running, steering(2), steering(3, 'queue')).when(commands.settle());

    const events = when.decision.kind === 'accepted' ? when.decision.events : [];
    expect(events).toMatchObject([{ type: 'message.appended' }, cancelled(2), unsteered(3), { type: 'turn.settled' }]);
    expect(when.after.open).toMatchObject([{ admissionId: 'admission-3', status: 'queued', delivery: 'queue' }]);
  });

  test('waits at its own place: before what was accepted later', () => {
    const when = given(...running, steering(2, 'queue'), queued(3)).when(commands.settle());

    expect(when.after.open.map(({ admissionId }) => admissionId)).toEqual(['admission-2', 'admission-3']);
  });

  test('is held like every follower when an outage ends the turn', () => {
    const failure = failureOf('auth', 'The key is wrong.');
    const failed = { outcome: 'failed', answer: null, failure, holdOnOutage: true } as const;

    const waiting = given(...running, steering(2, 'queue')).when(commands.settle(failed));
    expect(waiting.after.hold).not.toBeNull();
    const alone = given(...running, steering(2)).when(commands.settle(failed));
    expect(alone.after.hold).toBeNull();
  });

  test('has the same fate when its turn is lost, and when the turn goes back to the queue', () => {
    given(...running, steering(2), steering(3, 'queue'))
      .when(commands.recover(), { epoch: 2 })
      .then(cancelled(2), unsteered(3), lost(1, someEvidence({ lostAt: now })));
    given(created(), queued(1), started(1), steering(2), steering(3, 'queue'))
      .when(commands.recover(), { epoch: 2 })
      .then(cancelled(2), unsteered(3), requeued(1, 1));
  });
});

function merged(n: number): readonly Told[] {
  const message = answered(1, { id: 90 + n, role: 'user', kind: 'steer' });
  const into = { type: 'admission.merged', into: 'admission-1', messageId: 90 + n } as const;
  return [message, { ...into, admissionId: `admission-${String(n)}`, executionGeneration: null }];
}

test('nothing of a steer depends on a hold of the queue', () => {
  const { decision } = given(...running, held()).when(commands.steer(2));

  expect(decision.kind).toBe('accepted');
});
