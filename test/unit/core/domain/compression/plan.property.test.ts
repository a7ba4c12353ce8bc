import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keptTokens, planCompression } from '../../../../../src/core/domain/compression/plan.ts';
import type { CompressionPlan, PlanInput } from '../../../../../src/core/domain/compression/plan.ts';
import { sumTokens } from '../../../../../src/core/domain/transcript/tokens.ts';
import type { MessageMeta } from '../../../../../src/core/domain/transcript/message.ts';
import { deepFreeze } from '../../../../support/given.ts';
import { aTranscript, aTurn, loosened, placed } from './random-transcript.ts';

const anInput: fc.Arbitrary<PlanInput> = fc.record({
  messages: aTranscript,
  protectFirstN: fc.nat(6),
  protectLastN: fc.nat(25),
  triggerTokens: fc.integer({ min: 500, max: 30_000 }),
  extraTokens: fc.nat(2000),
  promptPending: fc.boolean(),
});

function forEveryPlan(check: (plan: CompressionPlan, input: PlanInput) => void): void {
  fc.assert(
    fc.property(anInput, (input) => {
      for (const plan of planCompression(deepFreeze(structuredClone(input)))) check(plan, input);
    }),
    { numRuns: 80 },
  );
}

describe('whatever the transcript, every plan', () => {
  test('C1: keeps a call, its results and the rest of its batch together (B37)', () => {
    forEveryPlan(({ head, middle, tail }) => {
      for (const part of [head, middle, tail]) {
        const results = part.flatMap(({ toolCallId }) => toolCallId ?? []);
        const calls = part.flatMap(({ toolCallIds }) => toolCallIds);
        expect(results.toSorted()).toEqual(calls.toSorted());
      }
    });
  });

  test('C2: has each message of the transcript in one part, and each part in order', () => {
    forEveryPlan(({ head, middle, tail }, { messages }) => {
      const ids = (part: readonly MessageMeta[]): readonly number[] => part.map(({ id }) => id);
      expect(ids([...head, ...middle, ...tail]).toSorted((a, b) => a - b)).toEqual(ids(messages));
      for (const part of [head, middle, tail]) expect(ids(part)).toEqual(ids(part).toSorted((a, b) => a - b));
      expect(messages.slice(0, head.length)).toEqual(head);
    });
  });

  test('C3: keeps the newest turn whole, or its prompt and its last steps on the rung that cuts into it', () => {
    forEveryPlan(({ rung, tail }, { messages, promptPending }) => {
      const start = messages.findLastIndex(({ kind }) => kind === 'prompt' || kind === 'summary');
      if (promptPending || messages[start]?.kind !== 'prompt') return;
      const newest = messages.slice(start);
      if (rung !== 'inside') {
        expect(tail.slice(-newest.length)).toEqual(newest);
        return;
      }
      const [prompt, ...steps] = tail;
      expect(prompt).toEqual(newest[0]);
      expect(steps).toEqual(newest.slice(-steps.length));
      expect(steps).not.toEqual([]);
    });
  });

  test('C4: keeps no earlier summary beside the new one', () => {
    forEveryPlan(({ head, tail }) => {
      expect([...head, ...tail].filter(({ kind }) => kind === 'summary')).toEqual([]);
    });
  });

  test('C5: has something to summarise, and never only a summary', () => {
    forEveryPlan(({ middle }) => {
      expect(middle.filter(({ kind }) => kind !== 'summary')).not.toEqual([]);
    });
  });

  test('leaves room for a summary under its bound', () => {
    forEveryPlan((plan, { extraTokens, triggerTokens }) => {
      expect(keptTokens(plan) + extraTokens).toBeLessThan(plan.boundTokens);
      expect(plan.boundTokens).toBe(plan.rung === 'wide' ? 0.6 * triggerTokens : triggerTokens);
    });
  });

  test('keeps no more than the policy protects at the start', () => {
    forEveryPlan(({ head }, { protectFirstN }) => {
      expect(head.length).toBeLessThanOrEqual(protectFirstN);
    });
  });
});

describe('the rungs of one transcript', () => {
  const everyLadder = (check: (plans: readonly CompressionPlan[], input: PlanInput) => void): void =>
    fc.assert(
      fc.property(anInput, (input) => {
        check(planCompression(input), input);
      }),
      { numRuns: 80 },
    );

  test('keep less and less of the tail, first with a head and then without', () => {
    everyLadder((plans) => {
      const withHead = plans.filter(({ head }) => head.length > 0);
      const without = plans.filter(({ head }) => head.length === 0);
      expect(plans).toEqual([...withHead, ...without]);
      for (const ladder of [withHead, without]) {
        const kept = ladder.map(({ tail }) => tail.length);
        expect(kept).toEqual([...new Set(kept)].sort((a, b) => b - a));
      }
    });
  });

  test('come in the order wide, narrow, inside', () => {
    everyLadder((plans) => {
      const order = ['wide', 'narrow', 'inside'];
      const ranks = plans.map(({ rung, head }) => order.indexOf(rung) + (head.length === 0 ? 3 : 0));
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    });
  });

  test('are the same for the same transcript', () => {
    everyLadder((plans, input) => {
      expect(planCompression(structuredClone(input))).toEqual(plans);
    });
  });
});

test('however often a session is compressed, its earlier summary is updated and never stacked (B14)', () => {
  const life = fc.array(fc.array(aTurn, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(
      life,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 3000, max: 30_000 }),
      (chapters, first, trigger) => {
        let messages: readonly MessageMeta[] = [];
        for (const turns of chapters) {
          messages = placed([...messages.map(loosened), ...turns.flat()]);
          const [plan] = planCompression({
            messages,
            protectFirstN: first,
            protectLastN: 20,
            triggerTokens: trigger,
            extraTokens: 0,
            promptPending: true,
          });
          if (plan === undefined) continue;
          const summary = { ...(plan.middle[0] as MessageMeta), ...aSummaryMeta, tokens: 100 }; // C5: there is a middle
          messages = placed([...plan.head, summary, ...plan.tail].map(loosened));
          expect(messages.filter(({ kind }) => kind === 'summary')).toHaveLength(1);
        }
      },
    ),
    { numRuns: 80 },
  );
});

test('a session that is due and whose newest turn fits can be compressed, however large its beginning is', () => {
  fc.assert(
    fc.property(anInput, ({ messages, ...input }) => {
      const { triggerTokens, extraTokens } = input;
      const finished = placed([...messages.map(loosened), ...anAnsweredTurn]);
      fc.pre(messages.some(({ kind }) => kind !== 'summary'));
      fc.pre(sumTokens(anAnsweredTurn) + extraTokens < triggerTokens);
      fc.pre(sumTokens(finished) + extraTokens >= triggerTokens);

      expect(planCompression({ ...input, messages: finished, promptPending: false })).not.toEqual([]);
    }),
    { numRuns: 80 },
  );
});

const aSummaryMeta = { role: 'user', kind: 'summary', toolCallIds: [], toolCallId: null, admissionId: null } as const;

const anAnsweredTurn = placed([
  { role: 'user', kind: 'prompt', tokens: 5, admissionId: 'a', toolCallIds: [], toolCallId: null },
  { role: 'assistant', kind: 'answer', tokens: 5, admissionId: 'a', toolCallIds: [], toolCallId: null },
]);
