import { describe, expect, test } from 'vitest';
import { InvariantViolation } from '../../../../../src/core/domain/invariant.ts';
import type { Failure, FailureKind } from '../../../../../src/core/domain/model/failure.ts';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';
import { aDraft, aMessage, anAdmission, anAnswer } from '../../../../support/builders.ts';
import { settle } from '../../../../support/commands.ts';
import { firstNewMessageId, given, now } from '../../../../support/given.ts';
import type { Told } from '../../../../support/history.ts';
import {
  answered,
  appended,
  callStarted,
  created,
  held,
  lost,
  prompted,
  queued,
  settled,
  started,
  stopRequested,
  toolResult,
} from '../../../../support/history.ts';

const claimed = [created(), queued(1), queued(2), started(1)];
const dispatched = [...claimed, prompted(1)];
const usage = { inputTokens: 10, outputTokens: 2, totalTokens: 12 };

describe('a turn that was answered', () => {
  test('ends as completed, with its answer and its usage in one append', () => {
    given(...dispatched)
      .when(settle({ answer: anAnswer({ usage }), usage, contextTokens: 12 }))
      .then(
        answered(1, { id: firstNewMessageId, usage, at: now }, { contextTokens: 12 }),
        settled(1, { outcome: 'completed', usage }),
      )
      .thenAnswers({ outcome: 'completed' });
  });

  test('makes room for its follower', () => {
    const { after } = given(...dispatched).when(settle());

    expect(after.open).toEqual([anAdmission({ seq: 2 })]);
  });

  test('leaves the size of the context that the provider has reported', () => {
    const { after } = given(...dispatched).when(settle({ contextTokens: 12 }));

    expect(after.usageAnchor).toEqual({ tokens: 12, messageId: firstNewMessageId });
  });

  test('can not be completed without an answer: that is a fault of this program', () => {
    const { when } = given(...dispatched);

    expect(() => when(settle({ answer: null }))).toThrow(InvariantViolation);
  });
});

describe('a turn that was asked to stop before its answer was stored', () => {
  const stopped = [...dispatched, stopRequested(1)];

  test('ends as interrupted, and the answer is kept as a partial one', () => {
    given(...stopped)
      .when(settle({ outcome: 'completed', answer: anAnswer({ text: 'The whole answer' }), usage, contextTokens: 12 }))
      .then(
        answered(1, { id: firstNewMessageId, text: 'The whole answer', partial: true, at: now }),
        settled(1, { outcome: 'interrupted', usage }),
      )
      .thenAnswers({ outcome: 'interrupted' });
  });

  test('does not keep the tool calls of that answer: nobody will make them', () => {
    const asking = anAnswer({ text: 'I will look.', toolCalls: [{ id: 'call-1', name: 'look', arguments: '{}' }] });

    given(...stopped)
      .when(settle({ outcome: 'interrupted', answer: asking }))
      .then(
        answered(1, { id: firstNewMessageId, text: 'I will look.', partial: true, at: now }),
        settled(1, { outcome: 'interrupted' }),
      );
  });

  test('ends with a note where the answer is blank', () => {
    given(...stopped)
      .when(settle({ outcome: 'interrupted', answer: anAnswer({ text: ' \n' }) }))
      .then(note('[This turn was stopped before it was answered.]', 16), settled(1, { outcome: 'interrupted' }));
  });

  test('ends with a note where there is no answer', () => {
    given(...stopped)
      .when(settle({ outcome: 'interrupted', answer: null }))
      .then(note('[This turn was stopped before it was answered.]', 16), settled(1, { outcome: 'interrupted' }));
  });

  test('ends as interrupted, not as failed, when the model fails after the stop', () => {
    given(...stopped)
      .when(settle({ outcome: 'failed', answer: null, failure: failureOf('unavailable', 'The model is down.') }))
      .then(note('[This turn was stopped before it was answered.]', 16), settled(1, { outcome: 'interrupted' }))
      .thenAnswers({ outcome: 'interrupted' });
  });

  test('leaves the transcript as it is when nothing was sent', () => {
    const when = given(...claimed, stopRequested(1)).when(settle({ outcome: 'interrupted', answer: null }));

    when.then(settled(1, { outcome: 'interrupted' }));
    expect(when.after.messages).toEqual([]);
  });
});

describe('a turn that failed', () => {
  const failure = failureOf('unavailable', 'The model is down.', { retryable: true, providerStatus: 503 });

  test('ends with its failure, and a note keeps the next prompt from merging with this one', () => {
    given(...dispatched)
      .when(settle({ outcome: 'failed', answer: null, failure }))
      .then(note('[This turn failed before it was answered.]', 15), settled(1, { outcome: 'failed', failure }))
      .thenAnswers({ outcome: 'failed' });
  });

  test('keeps what was said of an answer, marked as partial', () => {
    given(...dispatched)
      .when(settle({ outcome: 'failed', answer: anAnswer({ text: 'Half of' }), failure }))
      .then(
        answered(1, { id: firstNewMessageId, text: 'Half of', partial: true, at: now }),
        settled(1, { outcome: 'failed', failure }),
      );
  });

  test('reports no size of the context, for a broken answer proves nothing', () => {
    const { after } = given(...dispatched).when(
      settle({ outcome: 'failed', answer: anAnswer({ text: 'Half of' }), failure, contextTokens: 12 }),
    );

    expect(after.usageAnchor).toBeNull();
  });

  test('leaves the transcript as it is when nothing was sent', () => {
    const when = given(...claimed).when(settle({ outcome: 'failed', answer: null, failure }));

    when.then(settled(1, { outcome: 'failed', failure }));
    expect(when.after.messages).toEqual([]);
  });

  test('gives every open call a result, in the order of the calls, before its note', () => {
    const calls = ['call-1', 'call-2'].map((id) => ({ id, name: 'look', arguments: '{}' }));
    const asking = answered(1, { id: 2, toolCalls: calls, toolCallIds: ['call-1', 'call-2'] }, { step: 2 });

    given(...dispatched, asking, callStarted(1, 'call-2'), toolResult(1, 'call-1', { id: 3 }, { step: 2 }))
      .when(settle({ outcome: 'failed', answer: null, failure, step: 2 }))
      .then(
        appended(1, lostResult('call-2'), { step: 2 }),
        note('[This turn failed before it was answered.]', 15, { id: firstNewMessageId + 1, step: 2 }),
        settled(1, { outcome: 'failed', failure }),
      );
  });

  test('says of a call whose intent was never stored that it was not started', () => {
    const call = { toolCalls: [{ id: 'call-1', name: 'look', arguments: '{}' }], toolCallIds: ['call-1'] };
    const result = { role: 'tool', kind: 'tool', text: '[The call was not started.]', tokens: 11 } as const;

    given(...dispatched, answered(1, { id: 2, ...call }))
      .when(settle({ outcome: 'failed', answer: null, failure }))
      .then(
        appended(1, aMessage({ ...result, toolCallId: 'call-1', id: firstNewMessageId, at: now })),
        note('[This turn failed before it was answered.]', 15, { id: firstNewMessageId + 1 }),
        settled(1, { outcome: 'failed', failure }),
      );
  });

  test('leaves no call running', () => {
    const asking = answered(1, { id: 2, toolCallIds: ['call-1'] });
    const { after } = given(...dispatched, asking, callStarted(1, 'call-1')).when(
      settle({ outcome: 'failed', answer: null, failure }),
    );

    expect(after.runningCalls).toEqual([]);
  });

  test('gives an open call its own result although an earlier turn has used the same id', () => {
    const call = { toolCalls: [{ id: 'call-1', name: 'look', arguments: '{}' }], toolCallIds: ['call-1'] };
    const earlier = [
      prompted(1),
      answered(1, { id: 2, ...call }),
      toolResult(1, 'call-1', { id: 3 }),
      answered(1, { id: 4 }),
      settled(1),
    ];
    const ofSecond = { generation: 2 };

    given(
      ...claimed,
      ...earlier,
      started(2, ofSecond),
      prompted(2, { id: 5 }, ofSecond),
      answered(2, { id: 6, ...call }, ofSecond),
      callStarted(2, 'call-1', ofSecond),
    )
      .when(settle({ executionGeneration: 2, outcome: 'failed', answer: null, failure }))
      .then(
        appended(2, { ...lostResult('call-1'), admissionId: 'admission-2' }, ofSecond),
        appended(
          2,
          {
            ...noteMessage('[This turn failed before it was answered.]', 15, firstNewMessageId + 1),
            admissionId: 'admission-2',
          },
          ofSecond,
        ),
        settled(2, { outcome: 'failed', failure }, ofSecond),
      );
  });
});

describe('a turn whose request can not fit', () => {
  const failure = failureOf('context_exhausted', 'It does not fit.');
  const exhausted = settle({ outcome: 'failed', answer: null, failure });

  test('leaves the transcript with its note, so that a paste too large never bricks the session', () => {
    const when = given(...dispatched).when(exhausted);

    when.then(
      note('[This turn failed before it was answered.]', 15),
      settled(1, { outcome: 'failed', failure, hidden: [1, firstNewMessageId] }),
    );
    expect(when.after.messages).toEqual([]);
  });

  test('forgets the size that the provider reported, for it may have counted what is gone', () => {
    const before = [created(), queued(1), queued(2), started(1), prompted(1)];
    const first = [...before, answered(1, { id: 2 }, { contextTokens: 90 }), settled(1)];
    const second = [started(2, { generation: 2 }), prompted(2, { id: 3 }, { generation: 2 })];
    const when = given(...first, ...second).when({ ...exhausted, executionGeneration: 2 });

    expect(when.after.usageAnchor).toBeNull();
    expect(when.after.messages.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('hides nothing when its prompt was never stored', () => {
    given(...claimed)
      .when(exhausted)
      .then(settled(1, { outcome: 'failed', failure, hidden: [] }));
  });

  test('keeps everything when the turn got further than its prompt', () => {
    const calls = [{ id: 'call-1', name: 'look', arguments: '{}' }];
    const when = given(
      ...dispatched,
      answered(1, { id: 2, toolCalls: calls, toolCallIds: ['call-1'] }),
      toolResult(1, 'call-1', { id: 3 }),
    ).when(exhausted);

    when.then(
      note('[This turn failed before it was answered.]', 15),
      settled(1, { outcome: 'failed', failure, hidden: [] }),
    );
    expect(when.after.messages.map(({ id }) => id)).toEqual([1, 2, 3, firstNewMessageId]);
  });

  test('keeps everything when it was stopped before it failed', () => {
    given(...dispatched, stopRequested(1))
      .when(exhausted)
      .then(note('[This turn was stopped before it was answered.]', 16), settled(1, { outcome: 'interrupted' }));
  });
});

describe('a turn whose prompt a provider refuses for what it holds', () => {
  const refusal = (reason: FailureKind, promptHasMedia = false) =>
    settle({ outcome: 'failed', answer: null, failure: failureOf(reason, 'Refused.'), promptHasMedia });
  const idsAfter = (command: ReturnType<typeof settle>, past = dispatched) =>
    given(...past)
      .when(command)
      .after.messages.map(({ id }) => id);

  test.each<[string, ReturnType<typeof settle>]>([
    ['a content filter', refusal('content_filtered')],
    ['an image that it can’t read', refusal('bad_request', true)],
  ])('because of %s leaves the transcript, so that it doesn’t brick the session', (_what, command) => {
    expect(idsAfter(command)).toEqual([]);
  });

  test('keeps a prompt of text alone after a bad request: the fault may be anywhere', () => {
    expect(idsAfter(refusal('bad_request'))).toEqual([1, firstNewMessageId]);
  });

  test.each<FailureKind>(['unavailable', 'auth', 'stalled'])('keeps one with media after %s', (reason) => {
    expect(idsAfter(refusal(reason, true))).toEqual([1, firstNewMessageId]);
  });

  test('keeps what was answered before the filter cut it off', () => {
    const command = { ...refusal('content_filtered'), answer: anAnswer({ text: 'Half of' }) };

    expect(idsAfter(command)).toEqual([1, firstNewMessageId]);
  });

  test('keeps everything when the turn got further than its prompt', () => {
    const calls = [{ id: 'call-1', name: 'look', arguments: '{}' }];
    const further = [
      ...dispatched,
      answered(1, { id: 2, toolCalls: calls, toolCallIds: ['call-1'] }),
      toolResult(1, 'call-1', { id: 3 }),
    ];

    expect(idsAfter(refusal('content_filtered'), further)).toEqual([1, 2, 3, firstNewMessageId]);
    expect(idsAfter(refusal('bad_request', true), further)).toEqual([1, 2, 3, firstNewMessageId]);
  });
});

describe('a turn that fails for a reason that is not its prompt’s own', () => {
  const minuteLater = '2030-01-01T00:02:00.000Z';
  const outage = (reason: FailureKind, more: Partial<Failure> = {}) =>
    settle({ outcome: 'failed', answer: null, failure: failureOf(reason, 'It is out.', more), holdOnOutage: true });
  const holdOf = (command: ReturnType<typeof settle>, past = dispatched) => given(...past).when(command).after.hold;

  test.each<[FailureKind, string | null]>([
    ['unavailable', minuteLater],
    ['rate_limited', minuteLater],
    ['stalled', minuteLater],
    ['compression_failed', minuteLater],
    ['not_an_api', null],
    ['auth', null],
    ['quota_exhausted', null],
    ['configuration', null],
  ])('%s holds the queue in the same append, until %s', (reason, until) => {
    expect(holdOf(outage(reason))).toEqual({ reason: `outage:${reason}`, until, by: 'gateway', at: now });
  });

  test.each<FailureKind>([
    'bad_request',
    'context_exhausted',
    'empty_reply',
    'content_filtered',
    'internal',
    'max_steps',
  ])('%s is its own, and the queue goes on', (reason) => {
    expect(holdOf(outage(reason))).toBeNull();
  });

  test('holds for as long as the provider asks, when that is longer', () => {
    expect(holdOf(outage('rate_limited', { retryAfterMs: 90_500 }))?.until).toBe('2030-01-01T00:02:31.000Z');
    expect(holdOf(outage('rate_limited', { retryAfterMs: 5000 }))?.until).toBe(minuteLater);
  });

  test('holds nobody where nobody waits', () => {
    expect(holdOf(outage('auth'), [created(), queued(1), started(1), prompted(1)])).toBeNull();
  });

  test('leaves a hold that is there already', () => {
    expect(holdOf(outage('auth'), [...dispatched, held({ reason: 'operator' })])?.reason).toBe('operator');
  });

  test('holds nobody where the operator prefers to go on', () => {
    expect(holdOf({ ...outage('auth'), holdOnOutage: false })).toBeNull();
  });

  test('holds nobody when it was stopped before it failed', () => {
    expect(holdOf(outage('auth'), [...dispatched, stopRequested(1)])).toBeNull();
  });
});

describe('a settlement is refused', () => {
  test('when the turn has ended: a terminal state never flips', () => {
    given(...dispatched, settled(1, { outcome: 'interrupted' }))
      .when(settle())
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });

  test('when another turn runs', () => {
    given(...dispatched, settled(1), started(2, { generation: 2 }))
      .when(settle())
      .thenRefused({ reason: 'turn_over', executionGeneration: 2 });
  });

  test('when the owner was superseded meanwhile', () => {
    given(...dispatched)
      .when(settle(), { epoch: 2 })
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });

  test('when the turn was lost: a late answer does not settle what somebody must resolve', () => {
    given(...dispatched, lost(1))
      .when(settle())
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });
});

test('a turn may still end while the gateway drains', () => {
  given(...dispatched)
    .when(settle(), { draining: true })
    .thenAnswers({ outcome: 'completed' });
});

function noteMessage(text: string, tokens: number, id: number) {
  const draft = aDraft({ role: 'assistant', kind: 'note', text, tokens });
  return aMessage({ ...draft, id, at: now });
}

function note(text: string, tokens: number, more: { id?: number; step?: number } = {}): Told {
  return appended(1, noteMessage(text, tokens, more.id ?? firstNewMessageId), { step: more.step ?? 1 });
}

function lostResult(toolCallId: string) {
  const text = '[The turn failed before the result of this call was stored. Its outcome is unknown.]';
  return aMessage({ role: 'tool', kind: 'tool', text, tokens: 25, toolCallId, id: firstNewMessageId, at: now });
}
