import { describe, expect, test } from 'vitest';
import { anAnswer, anInstant, aPrincipal, aToolCall } from '../../../../support/builders.ts';
import * as commands from '../../../../support/commands.ts';
import { firstNewMessageId, given, now } from '../../../../support/given.ts';
import {
  answered,
  approvalRequested,
  approvalResolved,
  callStarted,
  created,
  lost,
  prompted,
  queued,
  settled,
  someEvidence,
  started,
  stopRequested,
} from '../../../../support/history.ts';
import type { Told } from '../../../../support/history.ts';

const asking = { id: 2, toolCalls: [aToolCall({ id: 'call-1', name: 'look' })], toolCallIds: ['call-1'] };
const running: readonly Told[] = [created(), queued(1), started(1), prompted(1)];
const waiting: readonly Told[] = [...running, answered(1, asking), approvalRequested(1)];

const approval = {
  approvalId: 'approval-1',
  admissionId: 'admission-1',
  executionGeneration: 1,
  messageId: 2,
  callId: 'call-1',
  name: 'look',
  options: ['approve', 'deny'],
  requestedAt: anInstant,
  expiresAt: '2030-01-01T00:10:00.000Z',
} as const;

function decided(decision: 'approved' | 'denied' | 'expired', by: string = aPrincipal) {
  return { ...approval, resolution: { decision, by, reason: null, at: now } };
}

describe('a request for approval', () => {
  test('is stored with the message that asks, and crosses no boundary', () => {
    const answer = anAnswer({ toolCalls: [aToolCall({ id: 'call-1', name: 'look' })] });
    const askedCalls = [{ approvalId: 'approval-1', callId: 'call-1', name: 'look' }];
    const when = given(...running).when(commands.append({ messages: [answer], askedCalls, approvalSeconds: 60 }));

    expect(when.after.approvals).toEqual([
      { ...approval, messageId: firstNewMessageId, requestedAt: now, expiresAt: '2030-01-01T00:02:00.000Z' },
    ]);
    expect(when.after.runningCalls).toEqual([]);
    expect(when.after.open[0]?.boundary).toBe('model');
  });

  test('that is approved starts its call in the same append', () => {
    given(...waiting)
      .when(commands.respondApproval())
      .then(approvalResolved(1), callStarted(1, 'call-1'))
      .thenAnswers(decided('approved'));
  });

  test('that is denied gives its call a result and starts nothing', () => {
    const when = given(...waiting).when(commands.respondApproval({ answer: 'deny' }));

    when.thenAnswers(decided('denied'));
    expect(when.after.messages.at(-1)).toMatchObject({ role: 'tool', kind: 'tool', toolCallId: 'call-1' });
    expect(when.after.runningCalls).toEqual([]);
    expect(when.after.approvals).toEqual([]);
  });

  test('is answered once: the second answer of a round meets what the first has left', () => {
    given(...waiting, approvalResolved(1), callStarted(1, 'call-1'))
      .when(commands.respondApproval({ answer: 'deny' }))
      .thenRefused({ reason: 'approval_closed', approval: null });
  });

  test('is not answered after its time, also while nobody has noted that yet', () => {
    const expired = { decision: 'expired', by: 'gateway', reason: null, at: approval.expiresAt } as const;

    given(...waiting)
      .when(commands.respondApproval(), { now: approval.expiresAt })
      .thenRefused({ reason: 'approval_closed', approval: { ...approval, resolution: expired } });
  });

  test('is not answered by an owner that does not run its turn', () => {
    given(...waiting)
      .when(commands.respondApproval(), { epoch: 2 })
      .thenRefused({ reason: 'approval_closed', approval: null });
  });

  test('that expires gives its call a result that says so, once', () => {
    const expire = { kind: 'expire_approval', approvalId: 'approval-1' } as const;
    const when = given(...waiting).when(expire);

    expect(when.after.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'call-1' });
    given(...waiting, approvalResolved(1, { decision: 'denied' }))
      .when(expire)
      .thenRefused({ reason: 'approval_closed', approval: null });
  });

  test('is closed by a stop, in the same append, and its call stays without a start', () => {
    given(...waiting)
      .when(commands.interrupt(1, 'operator'))
      .then(
        stopRequested(1, { by: 'operator' }),
        approvalResolved(1, { decision: 'closed', by: 'operator', reason: 'stop_requested' }),
      );
  });

  test('has expired when a stop comes after its time, as whoever answered too late was told', () => {
    given(...waiting)
      .when(commands.interrupt(1, 'operator'), { now: approval.expiresAt })
      .then(
        { ...stopRequested(1, { by: 'operator' }), at: approval.expiresAt },
        { ...approvalResolved(1, { decision: 'expired', by: 'gateway', reason: null }), at: approval.expiresAt },
      );
  });

  test('is closed by the end of its turn', () => {
    const when = given(...waiting).when(commands.settle({ outcome: 'failed', answer: null }));

    expect(when.after.approvals).toEqual([]);
    const types = when.decision.kind === 'accepted' ? when.decision.events.map(({ type }) => type) : [];
    expect(types).toEqual(['message.appended', 'message.appended', 'approval.resolved', 'turn.settled']);
  });

  test('is closed by recovery, and the evidence does not name its call', () => {
    given(...waiting)
      .when(commands.recover(), { epoch: 2 })
      .then(
        approvalResolved(1, { decision: 'closed', by: 'gateway', reason: 'owner_lost' }),
        lost(1, someEvidence({ lostAt: now, openToolCalls: [] })),
      );
  });

  test('leaves nothing behind: the next turn may ask under the same id', () => {
    const { state } = given(...waiting, approvalResolved(1, { decision: 'denied' }), settled(1));

    expect(state.approvals).toEqual([]);
  });
});

test('a call that was closed with its request is noted as not started', () => {
  const stopped = [...waiting, stopRequested(1), approvalResolved(1, { decision: 'closed', reason: 'stop_requested' })];
  const when = given(...stopped).when(commands.settle({ outcome: 'interrupted', answer: null }));
  const events = when.decision.kind === 'accepted' ? when.decision.events : [];

  expect(events[0]).toMatchObject({ message: { text: '[The call was not started.]', toolCallId: 'call-1' } });
});
