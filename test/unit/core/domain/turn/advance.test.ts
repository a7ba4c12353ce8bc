import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '../../../../../src/core/domain/invariant.ts';
import { anAnswer, aToolCall, aToolResult } from '../../../../support/builders.ts';
import { append, dispatch, finishCall } from '../../../../support/commands.ts';
import { firstNewMessageId, given, now } from '../../../../support/given.ts';
import {
  answered,
  callFinished,
  callStarted,
  created,
  prompted,
  queued,
  settled,
  started,
  stopRequested,
  toolResult,
} from '../../../../support/history.ts';

const claimed = [created(), queued(1), started(1)];
const dispatched = [...claimed, prompted(1)];

describe('dispatching a turn', () => {
  test('stores its prompt and makes the boundary model durable', () => {
    const when = given(...claimed).when(dispatch(1));

    when.then(prompted(1, { id: firstNewMessageId, at: now })).thenAnswers(null);
    expect(when.after.open[0]).toMatchObject({ boundary: 'model', step: 1, promptMessageId: firstNewMessageId });
  });

  test('is refused once a stop is acknowledged: nothing is sent after that', () => {
    given(...claimed, stopRequested(1))
      .when(dispatch(1))
      .thenRefused({ reason: 'stop_requested' });
  });

  test('twice is a fault of this program', () => {
    const { when } = given(...dispatched);

    expect(() => when(dispatch(1))).toThrow(InvariantViolation);
  });
});

describe('storing a step', () => {
  const call = aToolCall();
  const asking = anAnswer({ toolCalls: [call], text: '', finishReason: 'tool_calls' });

  test('appends its messages in order, in one append', () => {
    given(...dispatched)
      .when(append({ messages: [asking, aToolResult(call.id)] }))
      .then(
        answered(1, { ...asking, id: firstNewMessageId, toolCallIds: [call.id], at: now }, { step: 2 }),
        toolResult(1, call.id, { id: firstNewMessageId + 1, at: now }, { step: 2 }),
      )
      .thenAnswers(null);
  });

  test('keeps the reported size of the context with its last message', () => {
    const when = given(...dispatched).when(append({ messages: [asking, aToolResult(call.id)], contextTokens: 500 }));

    expect(when.after.usageAnchor).toEqual({ tokens: 500, messageId: firstNewMessageId + 1 });
  });

  test('without a report leaves the last report as it is', () => {
    const earlier = answered(1, { id: 2 }, { contextTokens: 300 });
    const when = given(...dispatched, earlier).when(append({ messages: [asking, aToolResult(call.id)] }));

    expect(when.after.usageAnchor).toEqual({ tokens: 300, messageId: 2 });
  });

  test('counts the steps and leaves the boundary where it is', () => {
    const when = given(...dispatched).when(append({ messages: [asking, aToolResult(call.id)], step: 2 }));

    expect(when.after.open[0]).toMatchObject({ boundary: 'model', step: 2, promptMessageId: 1 });
  });

  test('stores the intent of each call that starts, which moves the boundary to tool', () => {
    const startedCalls = [{ callId: call.id, name: call.name }];
    const when = given(...dispatched).when(append({ messages: [asking], startedCalls, step: 1 }));

    when.then(
      answered(1, { ...asking, id: firstNewMessageId, toolCallIds: [call.id], at: now }),
      callStarted(1, call.id, { name: call.name }),
    );
    expect(when.after.open[0]).toMatchObject({ boundary: 'tool' });
    expect(when.after.runningCalls).toEqual([{ callId: call.id, name: call.name, startedAt: now }]);
  });

  test('is refused once a stop is acknowledged: no call starts after that', () => {
    given(...dispatched, stopRequested(1))
      .when(append({ messages: [asking], startedCalls: [{ callId: call.id, name: call.name }] }))
      .thenRefused({ reason: 'stop_requested' });
  });
});

describe('the end of a call', () => {
  const asking = answered(1, { id: 2, toolCallIds: ['call-1', 'call-2'] });
  const calling = [...dispatched, asking, callStarted(1, 'call-1'), callStarted(1, 'call-2')];

  test('is stored with its result, and the others go on', () => {
    const when = given(...calling).when(finishCall());

    when
      .then(
        callFinished(1, 'call-1'),
        toolResult(1, 'call-1', { ...finishCall().message, id: firstNewMessageId, toolCallId: 'call-1', at: now }),
      )
      .thenAnswers(null);
    expect(when.after.runningCalls.map(({ callId }) => callId)).toEqual(['call-2']);
  });

  test('is stored after a stop request too: it is the truth', () => {
    const when = given(...calling, stopRequested(1)).when(finishCall());

    expect(when.decision.kind).toBe('accepted');
    expect(when.after.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'call-1' });
  });

  test('that was never started is a fault of this program', () => {
    const { when } = given(...dispatched, asking, callStarted(1, 'call-2'));

    expect(() => when(finishCall())).toThrow(InvariantViolation);
  });

  test('that has come already is a fault of this program', () => {
    const { when } = given(...calling, callFinished(1, 'call-1'), toolResult(1, 'call-1', { id: 3 }));

    expect(() => when(finishCall())).toThrow(InvariantViolation);
  });

  test('with the result of another is a fault of this program', () => {
    const { when } = given(...calling);

    expect(() => when(finishCall({ message: aToolResult('call-2') }))).toThrow(InvariantViolation);
  });
});

describe.each([
  { name: 'dispatch', command: dispatch(1, 1) },
  { name: 'append', command: append({ messages: [anAnswer()] }) },
  { name: 'end of a call', command: finishCall() },
])('a late $name', ({ command }) => {
  test('is refused when its turn is over', () => {
    given(...dispatched, settled(1))
      .when(command)
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });

  test('never hits the next turn', () => {
    given(...dispatched, settled(1), queued(2), started(2, { generation: 2 }))
      .when(command)
      .thenRefused({ reason: 'turn_over', executionGeneration: 2 });
  });

  test('of an owner that was superseded is refused', () => {
    given(...claimed)
      .when(command, { epoch: 2 })
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });
});
