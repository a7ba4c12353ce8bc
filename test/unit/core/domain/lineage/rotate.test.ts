import { describe, expect, test } from 'vitest';
import { metaOf } from '../../../../../src/core/domain/transcript/message.ts';
import type { MessageMeta } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage, anAdmission, aSummary } from '../../../../support/builders.ts';
import { rotate } from '../../../../support/commands.ts';
import { firstNewMessageId as first, given, now } from '../../../../support/given.ts';
import {
  answered,
  compressionCompleted,
  compressionStarted,
  created,
  prompted,
  queued,
  settled,
  started,
  stopRequested,
} from '../../../../support/history.ts';

/** Two turns; the second has sent its prompt (5) and compresses, with prompts waiting behind it. */
const second = { generation: 2 };
const past = [
  created(),
  queued(1),
  queued(2),
  queued(3),
  started(1),
  prompted(1, { id: 1, tokens: 10 }),
  answered(1, { id: 2, tokens: 20 }),
  settled(1),
  started(2, second),
  prompted(2, { id: 5, tokens: 50 }, second),
  compressionStarted(2, { trigger: 'overflow' }, second),
];
const plan = { head: [1], middle: [2], tail: [5] };
const command = rotate({ executionGeneration: 2, plan });

const summary = aMessage({
  id: first + 1,
  kind: 'summary',
  text: 'What was said before',
  tokens: 9,
  admissionId: null,
  at: now,
});

const prompt = (id: number, overrides: Partial<MessageMeta> = {}): MessageMeta => ({
  ...metaOf(aMessage({ id, admissionId: 'admission-1', tokens: 10 })),
  ...overrides,
});

describe('a rotation', () => {
  const child = compressionCompleted(
    2,
    {
      trigger: 'overflow',
      head: [{ fromId: 1, message: prompt(first, { originId: 1 }) }],
      summary,
      tail: [{ fromId: 5, message: prompt(first + 2, { originId: 5, admissionId: 'admission-2', tokens: 50 }) }],
    },
    second,
  );

  test('is one event with the whole child: copies of the head, the summary, copies of the tail (A5, B5)', () => {
    given(...past)
      .when(command)
      .then(child)
      .thenAnswers(null);
  });

  test('moves the tip to the child and leaves the parent behind it', () => {
    const { after } = given(...past).when(command);

    expect(after.lineage).toEqual({
      rootId: 'session-1',
      tipId: 'transcript-2',
      parentId: 'session-1',
      length: 2,
      compressions: 1,
      open: null,
      breaker: { failures: 0, openUntil: null, reason: null, recent: [2] },
    });
    expect(after.revision).toBe(2);
  });

  test('leaves a transcript of copies that name the row they come from', () => {
    const { after } = given(...past).when(command);

    expect(after.messages).toEqual([
      prompt(first, { originId: 1 }),
      metaOf(summary),
      prompt(first + 2, { originId: 5, admissionId: 'admission-2', tokens: 50 }),
    ]);
  });

  test('takes the turn’s prompt along, so that the turn still knows its own', () => {
    const { after } = given(...past).when(command);

    expect(after.open[0]?.promptMessageId).toBe(first + 2);
  });

  test('never touches an admission: what runs runs on, what waits waits', () => {
    const { state, when } = given(...past);

    const { after } = when(command);

    expect(after.open).toEqual([{ ...state.open[0], promptMessageId: first + 2 }, anAdmission({ seq: 3 })]);
    expect(after.executionGeneration).toBe(2);
  });

  test('forgets the size that the provider reported of what is gone', () => {
    const reported = past.map((event) => (event.type === 'message.appended' ? { ...event, contextTokens: 70 } : event));

    const { after } = given(...reported).when(command);

    expect(after.usageAnchor).toBeNull();
  });

  test('copies of copies still name the first row', () => {
    const again = { ...command, compressionId: 'compression-2', childTranscript: 'transcript-3' };
    const plan = { head: [first], middle: [first + 1], tail: [first + 2] };

    const { after } = given(...past, child, compressionStarted(2, { compressionId: 'compression-2' }, second)).when(
      { ...again, plan },
      { nextMessageId: 2000 },
    );

    expect(after.messages.map(({ id, originId }) => [id, originId])).toEqual([
      [2000, 1],
      [2001, 2001],
      [2002, 5],
    ]);
    expect(after.lineage).toMatchObject({
      tipId: 'transcript-3',
      parentId: 'transcript-2',
      length: 3,
      compressions: 2,
    });
  });

  test('inside a turn keeps the prompt before the later steps, behind the summary (B47)', () => {
    const { after } = given(...past, answered(2, { id: 6 }, second), answered(2, { id: 7 }, second)).when({
      ...command,
      plan: { head: [1], middle: [2, 6], tail: [5, 7] },
    });

    expect(after.messages.map(({ id, originId }) => [id, originId])).toEqual([
      [first, 1],
      [first + 1, first + 1],
      [first + 2, 5],
      [first + 3, 7],
    ]);
    expect(after.open[0]?.promptMessageId).toBe(first + 2);
  });

  test('may keep no head and no tail', () => {
    const { after } = given(...past).when({ ...command, plan: { head: [], middle: [1, 2, 5], tail: [] } });

    expect(after.messages).toEqual([metaOf({ ...summary, id: first, originId: first })]);
  });
});

describe('a compression in place', () => {
  const inPlace = { ...command, childTranscript: null };

  test('keeps the transcript’s id and its head, and retires the middle and the old tail', () => {
    given(...past)
      .when(inPlace)
      .then(
        compressionCompleted(
          2,
          {
            trigger: 'overflow',
            childTranscript: 'session-1',
            head: [],
            summary: { ...summary, id: first, originId: first },
            tail: [{ fromId: 5, message: prompt(first + 1, { originId: 5, admissionId: 'admission-2', tokens: 50 }) }],
            retired: [2, 5],
          },
          second,
        ),
      );
  });

  test('leaves head, summary and tail in the order of their ids', () => {
    const { after } = given(...past).when(inPlace);

    expect(after.messages).toEqual([
      prompt(1),
      metaOf({ ...summary, id: first, originId: first }),
      prompt(first + 1, { originId: 5, admissionId: 'admission-2', tokens: 50 }),
    ]);
    expect(after.lineage).toMatchObject({ tipId: 'session-1', parentId: null, length: 1, compressions: 1 });
    expect(after.open[0]?.promptMessageId).toBe(first + 1);
  });
});

describe('a rotation is refused, and the transcript is what it was,', () => {
  test('when a message has joined the transcript since it was planned on', () => {
    given(...past)
      .when({ ...command, plan: { head: [1], middle: [2], tail: [] } })
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when its plan names messages that are no longer there', () => {
    given(...past)
      .when({ ...command, plan: { head: [1], middle: [2], tail: [4] } })
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when its plan changes the order', () => {
    given(...past)
      .when({ ...command, plan: { head: [], middle: [2, 1], tail: [5] } })
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when its plan takes a message twice', () => {
    given(...past)
      .when({ ...command, plan: { head: [1], middle: [2, 5], tail: [5] } })
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when its head is not the beginning', () => {
    given(...past)
      .when({ ...command, plan: { head: [2], middle: [1], tail: [5] } })
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when another compression is open (B20)', () => {
    given(...past)
      .when({ ...command, compressionId: 'compression-9' })
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when it was committed before', () => {
    given(...past, compressionCompleted(2, { summary }, second))
      .when(command)
      .thenRefused({ reason: 'tip_moved' });
  });

  test('when the turn was asked to stop while the summary was made', () => {
    given(...past, stopRequested(2, second))
      .when(command)
      .thenRefused({ reason: 'stop_requested' });
  });

  test('when its turn is over', () => {
    given(...past, settled(2, {}, second))
      .when(command)
      .thenRefused({ reason: 'turn_over', executionGeneration: 2 });
  });

  test('when its owner was superseded', () => {
    given(...past)
      .when(command, { epoch: 2 })
      .thenRefused({ reason: 'turn_over', executionGeneration: 2 });
  });
});

test('the summary is stored as it was made, with an identity', () => {
  const usage = { inputTokens: 90, outputTokens: 9, totalTokens: 99 };
  const { decision } = given(...past).when({ ...command, summary: aSummary({ text: 'Short.' }), usage });

  expect(decision).toMatchObject({
    events: [
      { summary: { ...summary, text: 'Short.' }, usage, model: 'summary-model', tokensBefore: 100, tokensAfter: 40 },
    ],
  });
});
