import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSummarisable, placeholdersFor } from '../../../../../src/core/domain/compression/placeholders.ts';
import { metaOf } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage } from '../../../../support/builders.ts';
import { aTranscript } from './random-transcript.ts';

const policy = { protectLastN: 2, triggerTokens: 10_000 };
const call = (id: number) =>
  metaOf(aMessage({ id, role: 'assistant', kind: 'answer', tokens: 10, toolCallIds: [`call-${String(id)}`] }));
const output = (id: number, tokens: number) =>
  metaOf(aMessage({ id, role: 'tool', kind: 'tool', toolCallId: `call-${String(id - 1)}`, tokens }));

describe('placeholders', () => {
  test('stand for bulky outputs that are older than what is protected', () => {
    const messages = [call(1), output(2, 3000), call(3), output(4, 100), call(5), output(6, 4000)];

    expect(placeholdersFor(messages, policy)).toEqual({ ids: new Set([2]), savedTokens: 2970 });
  });

  test('never stand for the newest outputs, however large: the model has not seen them', () => {
    expect(placeholdersFor([call(1), output(2, 90_000)], policy).ids.size).toBe(0);
  });

  test('never stand for outputs that no answer has followed, whatever prompts came since', () => {
    const prompts = [3, 4, 5].map((id) => metaOf(aMessage({ id, tokens: 3000 })));

    expect(placeholdersFor([call(1), output(2, 90_000), ...prompts], policy).ids.size).toBe(0);
  });

  test('are for as long as a summary could show the whole', () => {
    expect(isSummarisable([call(1), output(2, 90_000)], 10_000)).toBe(true);
    expect(
      isSummarisable(
        Array.from({ length: 20 }, (_, n) => output(n, 600)),
        10_000,
      ),
    ).toBe(false);
  });

  test('of any transcript are old tool outputs, and save what they say', () => {
    fc.assert(
      fc.property(aTranscript, fc.nat(30), fc.integer({ min: 100, max: 50_000 }), (messages, protectLastN, trigger) => {
        const { ids, savedTokens } = placeholdersFor(messages, { protectLastN, triggerTokens: trigger });
        const replaced = messages.filter(({ id }) => ids.has(id));

        expect(replaced.every(({ kind }) => kind === 'tool')).toBe(true);
        expect(savedTokens).toBe(replaced.reduce((sum, { tokens }) => sum + tokens - 30, 0));
        expect(ids.has(messages.at(-1)?.id ?? -1)).toBe(false);
      }),
    );
  });
});
