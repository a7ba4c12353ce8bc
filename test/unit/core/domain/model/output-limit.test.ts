import { describe, expect, test } from 'vitest';
import {
  afterOutputRefusal,
  afterOverflow,
  outputCap,
  outputLimit,
} from '../../../../../src/core/domain/model/output-limit.ts';

const limits = { contextTokens: 100_000, outputTokens: 20_000, source: 'catalogue' } as const;

describe('the length of an answer', () => {
  test('is left to the provider where nobody caps it, and its ceiling is known all the same', () => {
    expect(outputLimit(limits, null, 10_000)).toEqual({ maxOutputTokens: null, outputCeilingTokens: 20_000 });
  });

  test('is capped by what the window leaves, with a margin for counts that differ', () => {
    expect(outputLimit(limits, 50_000, 90_000)).toEqual({ maxOutputTokens: 9500, outputCeilingTokens: 9500 });
  });

  test('is never asked to be next to nothing', () => {
    expect(outputLimit(limits, 50_000, 120_000)).toEqual({ maxOutputTokens: 256, outputCeilingTokens: 256 });
  });

  test('is not limited by a window that nobody stated', () => {
    const unknown = { contextTokens: 8192, outputTokens: null, source: 'default' } as const;
    expect(outputLimit(unknown, 50_000, 9000)).toEqual({ maxOutputTokens: 50_000 });
  });

  test('has the cap of its model before the general one, which ends at what the model can', () => {
    expect(outputCap({ ...limits, cappedOutputTokens: 30_000 }, 1000)).toBe(30_000);
    expect(outputCap(limits, 64_000)).toBe(20_000);
    expect(outputCap(limits, null)).toBeNull();
  });

  test('is what the window leaves after an overflow, where that is less than was asked for (C1, C2)', () => {
    const leaves = { maxOutputTokens: null, outputCeilingTokens: 3000 };
    expect(afterOverflow({ maxOutputTokens: 7000 }, leaves)).toEqual({ maxOutputTokens: 3000 });
    expect(afterOverflow({ maxOutputTokens: null }, leaves)).toBeNull();
    expect(afterOverflow({ maxOutputTokens: 3000 }, leaves)).toBeNull();
    expect(afterOverflow({ maxOutputTokens: 7000 }, { maxOutputTokens: null })).toBeNull();
  });

  test('is halved and modest after a refusal', () => {
    expect(afterOutputRefusal({ maxOutputTokens: 2000 })).toEqual({ maxOutputTokens: 1000 });
    expect(afterOutputRefusal({ maxOutputTokens: null, outputCeilingTokens: 64_000 })).toEqual({
      maxOutputTokens: 4096,
    });
    expect(afterOutputRefusal({ maxOutputTokens: null })).toEqual({ maxOutputTokens: 4096 });
  });
});
