import { describe, expect, test } from 'vitest';
import {
  contextWindow,
  triggerAfterOverflow,
  windowOfModel,
} from '../../../../../src/core/domain/compression/trigger.ts';
import { aPolicy } from '../../../../support/memory-gateway.ts';

const limits = (contextTokens: number, outputTokens: number | null = null) => ({ contextTokens, outputTokens });

describe('the trigger', () => {
  test('is the configured share of the window where the reserve leaves that much', () => {
    const policy = { ...aPolicy, threshold: 0.5 };

    expect(contextWindow(policy, limits(100_000, 4000), null)).toEqual({
      windowTokens: 100_000,
      reserveTokens: 4000,
      reserveSource: 'model',
      triggerTokens: 50_000,
      triggerSource: 'threshold',
    });
  });

  test('is never more than 0.9 of what the reserve leaves', () => {
    expect(contextWindow({ ...aPolicy, threshold: 0.99 }, limits(100_000, 4000), null).triggerTokens).toBe(86_400);
  });

  test.each([
    ['the configured output', contextWindow(aPolicy, limits(100_000, 4000), 20_000), 'configured', 'reserve'],
    ['a quarter', contextWindow(aPolicy, limits(100_000), null), 'quarter', 'reserve'],
    [
      'a number of tokens',
      contextWindow({ ...aPolicy, thresholdTokens: 9000 }, limits(100_000, 9), null),
      'model',
      'threshold_tokens',
    ],
  ])('says which number decided: %s', (_what, window, reserveSource, triggerSource) => {
    expect(window).toMatchObject({ reserveSource, triggerSource });
  });

  test('is never more than the configured number of tokens', () => {
    expect(contextWindow({ ...aPolicy, thresholdTokens: 30_000 }, limits(1_000_000), null).triggerTokens).toBe(30_000);
  });

  test('ignores a configured number that the window can not hold', () => {
    expect(contextWindow({ ...aPolicy, thresholdTokens: 30_000 }, limits(8192), null).triggerTokens).toBe(5529);
  });

  test('is a whole number', () => {
    expect(contextWindow({ ...aPolicy, threshold: 1 / 3 }, limits(8192), null).triggerTokens).toBe(2730);
  });

  test.each([
    [8192, 5529],
    [131_072, 88_473],
    [1_048_576, 707_788],
  ])('of a window of %i tokens whose model says nothing of its output is %i', (window, trigger) => {
    expect(contextWindow(aPolicy, limits(window), null).triggerTokens).toBe(trigger);
  });
});

describe('the reserve', () => {
  test('is the configured maximum of the output', () => {
    expect(contextWindow(aPolicy, limits(100_000, 4000), 20_000)).toMatchObject({
      reserveTokens: 20_000,
      triggerTokens: 72_000,
    });
  });

  test('is the model’s own maximum where nothing is configured', () => {
    expect(contextWindow(aPolicy, limits(100_000, 4000), null).reserveTokens).toBe(4000);
  });

  test('is at most a quarter of the window where nothing is configured: a catalogue’s number is clamped', () => {
    expect(contextWindow(aPolicy, limits(100_000, 90_000), null).reserveTokens).toBe(25_000);
    expect(contextWindow(aPolicy, limits(8191), null).reserveTokens).toBe(2047);
  });

  test('that is larger than the window leaves nothing, and never less than nothing', () => {
    expect(contextWindow(aPolicy, limits(1000), 2000).triggerTokens).toBe(0);
  });
});

describe('after an overflow', () => {
  test('the refused request is evidence: the trigger is at most 0.8 of its local count', () => {
    expect(triggerAfterOverflow(80_000, 50_001)).toBe(40_000);
  });

  test('the trigger is never raised by it', () => {
    expect(triggerAfterOverflow(30_000, 50_000)).toBe(30_000);
  });
});

describe('a window that the configuration could not be checked against', () => {
  const small = { contextTokens: 131_072, outputTokens: null } as const;

  test('keeps half of itself for the prompt, whatever the answer may be long (C1)', () => {
    expect(windowOfModel(aPolicy, { ...small, source: 'learnt' }, 128_000)).toMatchObject({
      reserveTokens: 65_536,
      triggerTokens: 58_982,
    });
  });

  test('is taken as it is where it was configured: the start has said what is wrong with it', () => {
    expect(windowOfModel(aPolicy, { ...small, source: 'configured' }, 128_000).reserveTokens).toBe(128_000);
  });
});
