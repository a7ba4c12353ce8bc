import { describe, expect, test } from 'vitest';
import { keptTokens, planCompression } from '../../../../../src/core/domain/compression/plan.ts';
import type { PlanInput } from '../../../../../src/core/domain/compression/plan.ts';
import type { MessageMeta } from '../../../../../src/core/domain/transcript/message.ts';
import { metaOf } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage } from '../../../../support/builders.ts';

/** A transcript in short: `u10` is a prompt of 10 tokens, `a` an answer, `s` a summary, `c` a call and `t` its result. */
function transcript(shape: string): readonly MessageMeta[] {
  let call = '';
  return shape.split(' ').map((word, index) => {
    const id = index + 1;
    const tokens = Number(word.slice(1));
    if (word.startsWith('c')) call = `call-of-${String(id)}`;
    const of = {
      u: { kind: 'prompt' },
      s: { kind: 'summary', admissionId: null },
      a: { role: 'assistant', kind: 'answer' },
      c: { role: 'assistant', kind: 'answer', toolCallIds: [call] },
      t: { role: 'tool', kind: 'tool', toolCallId: call },
    } as const;
    return metaOf(aMessage({ id, tokens, ...of[word[0] as keyof typeof of] })); // the words of this file
  });
}

function plans(shape: string, input: Partial<PlanInput> = {}) {
  const messages = transcript(shape);
  const some = { protectFirstN: 1, protectLastN: 2, triggerTokens: 1000, extraTokens: 0, promptPending: false };
  return planCompression({ messages, ...some, ...input }).map(({ rung, head, middle, tail, boundTokens }) => ({
    rung,
    head: head.map(({ id }) => id),
    middle: middle.map(({ id }) => id),
    tail: tail.map(({ id }) => id),
    boundTokens,
  }));
}

describe('the wide rung', () => {
  test('keeps the first and the last messages that the policy protects and summarises what is between', () => {
    const [wide] = plans('u50 a100 u100 a100 u100 a100 u300 a50 u50', { protectLastN: 3 });

    expect(wide).toEqual({ rung: 'wide', head: [1], middle: [2, 3, 4, 5, 6], tail: [7, 8, 9], boundTokens: 600 });
  });

  test('protects the last messages only as far as they fit half of the trigger (B2, B7)', () => {
    expect(plans('u10 a100 u300 a300 u100 a50 u50', { protectLastN: 6 })[0]?.tail).toEqual([4, 5, 6, 7]);
    expect(plans('u10 a100 u300 a301 u100 a50 u50', { protectLastN: 6 })[0]?.tail).toEqual([5, 6, 7]);
  });

  test('keeps more than is protected while it fits the tail’s budget of a fifth of the trigger', () => {
    const [wide] = plans('u10 a300 u300 a50 u50 a50 u50', { protectLastN: 1 });

    expect(wide?.tail).toEqual([4, 5, 6, 7]);
  });

  test('has a budget of 20,000 tokens for such messages, however large the trigger is', () => {
    const big = { triggerTokens: 1_000_000, protectLastN: 1 };

    expect(plans('u10 a300000 u10000 a9000 u1000', big)[0]?.tail).toEqual([3, 4, 5]);
    expect(plans('u10 a300000 u10001 a9000 u1000', big)[0]?.tail).toEqual([4, 5]);
  });

  test('keeps the newest turn whole although nothing of it is protected any more', () => {
    const [wide] = plans('u10 a400 u200 c50 t100 c50 t100', { protectLastN: 1 });

    expect(wide).toMatchObject({ rung: 'wide', middle: [2], tail: [3, 4, 5, 6, 7] });
  });

  test('may summarise the newest turn when the pending prompt is not part of the transcript yet', () => {
    const [wide] = plans('u10 a400 u200 a300 u200 a100', { protectLastN: 1, promptPending: true });

    expect(wide?.tail).toEqual([6]);
  });

  test('gives way where the head leaves its tail too little of 60 % of the trigger', () => {
    const [first] = plans('u410 a500 u10 a290 u10');

    expect(first?.rung).toBe('narrow');
  });

  test('has a smaller tail where system prompt, tools and prompt leave less of its bound', () => {
    const shape = 'u10 a500 u50 a50 u50 a50 u50 a50';
    const input = { protectLastN: 6, promptPending: true };

    expect(plans(shape, input)[0]).toMatchObject({ rung: 'wide', tail: [3, 4, 5, 6, 7, 8] });
    expect(plans(shape, { ...input, extraTokens: 300 })[0]).toMatchObject({ rung: 'wide', tail: [5, 6, 7, 8] });
  });
});

describe('the narrow rung', () => {
  test('keeps only the newest turn of the tail and is content with less than the trigger', () => {
    const narrow = plans('u10 a500 u100 a100 u50').find(({ rung }) => rung === 'narrow');

    expect(narrow).toEqual({ rung: 'narrow', head: [1], middle: [2, 3, 4], tail: [5], boundTokens: 1000 });
  });

  test('keeps no tail at all while the newest prompt is pending', () => {
    const narrow = plans('u10 a500 u100 a100', { promptPending: true }).find(({ rung }) => rung === 'narrow');

    expect(narrow).toMatchObject({ middle: [2, 3, 4], tail: [] });
  });

  test('keeps the last messages where system prompt and tools leave the wide one no room, before it keeps none', () => {
    const shape = 'u10 a500 u40 a40 u40 a40';
    const tails = plans(shape, { protectLastN: 20, extraTokens: 500, promptPending: true });

    expect(tails).toMatchObject([
      { rung: 'narrow', tail: [5, 6], boundTokens: 1000 },
      { rung: 'narrow', tail: [], boundTokens: 1000 },
    ]);
  });

  test('is no rung of its own when it would be the wide one again', () => {
    const rungs = plans('u10 a700 u30 a100 u50', { protectLastN: 0, triggerTokens: 200 }).map(({ rung }) => rung);

    expect(rungs).not.toContain('narrow');
  });
});

describe('the rung inside a turn', () => {
  const longTurn = 'u10 a10 u100 c100 t300 c100 t300 c50 t200 c50 t100';

  test('cuts a turn that alone is too big at the border of a step, and keeps its prompt word for word (B47)', () => {
    const inside = plans(longTurn).find(({ rung }) => rung === 'inside');

    expect(inside).toEqual({
      rung: 'inside',
      head: [1],
      middle: [2, 4, 5, 6, 7],
      tail: [3, 8, 9, 10, 11],
      boundTokens: 1000,
    });
  });

  test('keeps at least the newest step, however large it is: the model has not seen its results yet', () => {
    const inside = plans('u10 a10 u10 c10 t300 c10 t700').find(({ rung }) => rung === 'inside');

    expect(inside?.tail).toEqual([3, 6, 7]);
  });

  test('does not exist for a turn that is only a prompt: nobody answers a request that was summarised away', () => {
    const rungs = plans('u10 a300 u10 a10 u500').map(({ rung }) => rung);

    expect(rungs).not.toContain('inside');
  });

  test('is the only rung for a session that has a single turn', () => {
    const rungs = plans('u100 c100 t300 c100 t300 c50 t200 c50 t100', { protectFirstN: 0 }).map(({ rung }) => rung);

    expect(rungs).toEqual(['inside']);
  });
});

describe('the head', () => {
  test('takes a batch whole or not at all (B37)', () => {
    expect(plans('u10 c10 t10 a800 u10', { protectFirstN: 2 })[0]?.head).toEqual([1]);
    expect(plans('u10 c10 t10 a800 u10', { protectFirstN: 3 })[0]?.head).toEqual([1, 2, 3]);
  });

  test('never holds an earlier summary, also where a batch did not fit into it (B46)', () => {
    expect(plans('u10 s20 a800 u10 a10 u10', { protectFirstN: 3 })[0]?.head).toEqual([1]);
  });

  test('is given up where it alone is too large, so that a big first paste never bricks a session', () => {
    expect(plans('u5000 a300 u10 a10 u10')[0]).toMatchObject({
      rung: 'wide',
      head: [],
      middle: [1, 2],
      tail: [3, 4, 5],
    });
  });

  test('is given up where the policy protects everything', () => {
    expect(plans('u10 a700 u300 a50 u50', { protectFirstN: 5 })[0]).toMatchObject({ head: [], middle: [1, 2, 3] });
  });

  test('may be empty', () => {
    expect(plans('u10 a700 u10 a10 u10', { protectFirstN: 0 })[0]?.head).toEqual([]);
  });
});

describe('there is no plan', () => {
  test('for an empty transcript', () => {
    expect(planCompression({ ...emptyInput, messages: [] })).toEqual([]);
  });

  test('where only an earlier summary could be summarised again', () => {
    expect(plans('s700', { promptPending: true })).toEqual([]);
  });

  test('where one huge prompt is all there is', () => {
    expect(plans('u5000')).toEqual([]);
  });
});

test('an earlier summary is part of the middle, to be updated', () => {
  const [wide] = plans('u10 s200 a300 u300 a100 u50 a10 u10');

  expect(wide).toMatchObject({ head: [1], middle: [2, 3, 4], tail: [5, 6, 7, 8] });
});

test('a result that strayed from its batch stays in order and is summarised or kept by its place', () => {
  const [call, user, result] = transcript('c10 u600 t10');
  const messages = [call, user, result].flatMap((message) => message ?? []);

  const [plan] = planCompression({ ...emptyInput, messages, promptPending: true, triggerTokens: 1000 });

  expect([...(plan?.head ?? []), ...(plan?.middle ?? []), ...(plan?.tail ?? [])]).toEqual(messages);
});

test('what a plan keeps is the sum of its head and its tail', () => {
  expect(keptTokens({ head: transcript('u10 a20'), tail: transcript('u300') })).toBe(330);
});

const emptyInput: PlanInput = {
  messages: [],
  protectFirstN: 1,
  protectLastN: 2,
  triggerTokens: 1000,
  extraTokens: 0,
  promptPending: false,
};
