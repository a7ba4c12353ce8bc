import { expect, test } from 'vitest';
import { backoffMs } from '../../../src/client/backoff.ts';

test('the pauses between attempts grow to a limit, and no two clients have the same', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 60, 6_000].map((attempt) => backoffMs(attempt, 1));
  const shortest = [0, 1, 6_000].map((attempt) => backoffMs(attempt, 0));

  expect(longest).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  expect(shortest).toEqual([100, 200, 5_000]);
});
