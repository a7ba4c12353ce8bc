import { describe, expect, test } from 'vitest';
import { seemsTruncated } from '../../../../../src/core/domain/model/input-truncation.ts';

describe('a provider has read less than it was sent', () => {
  test.each([
    ['half of its window, of a request that is larger than it', 50_000, 16_386, true],
    ['less than before, although the transcript has grown', 60_000, 2051, true],
    ['about as much as we count', 50_000, 48_000, false],
    ['more than we count', 50_000, 70_000, false],
    ['exactly half, which another tokenizer may count', 50_000, 25_000, false],
    ['a short text, of which counts differ', 1999, 10, false],
    ['what it does not say', 50_000, null, false],
    ['nothing, which servers say that do not count', 50_000, 0, false],
  ])('when it reports %s: %i sent, %s reported (C16, C17)', (_what, sent, reported, expected) => {
    expect(seemsTruncated(sent, reported)).toBe(expected);
  });
});
