import { expect, test } from 'vitest';
import { addUsage, noUsage } from '../../../../../src/core/domain/model/usage.ts';

test('usage adds up, and what one report left out counts from the other', () => {
  expect(
    addUsage(
      { inputTokens: 10, outputTokens: null, totalTokens: 12 },
      { inputTokens: 1, outputTokens: 2, totalTokens: null },
    ),
  ).toEqual({ inputTokens: 11, outputTokens: 2, totalTokens: 12 });
});

test('a number that no report has stays unknown and never becomes zero', () => {
  expect(addUsage(noUsage, noUsage)).toEqual(noUsage);
});
