import { describe, expect, test } from 'vitest';
import { contextSize, reportedSize } from '../../../../../src/core/domain/compression/context-size.ts';
import { aMessage, ownModel } from '../../../../support/builders.ts';
import { stateAfter } from '../../../../support/given.ts';
import {
  answered,
  compressionCompleted,
  compressionStarted,
  created,
  prompted,
  queued,
  settled,
  started,
} from '../../../../support/history.ts';

const nothing = { systemTokens: 0, toolTokens: 0, promptTokens: 0 };
const conversation = (contextTokens: number | null) => [
  created(),
  queued(1),
  started(1),
  prompted(1, { id: 1, tokens: 10 }),
  answered(1, { id: 2, tokens: 20 }, { contextTokens }),
];

describe('the local count', () => {
  test('is of everything that will be sent (B31, C20)', () => {
    const size = contextSize(stateAfter(...conversation(null)), ownModel, {
      systemTokens: 100,
      toolTokens: 200,
      promptTokens: 5,
    });

    expect(size).toEqual({ localTokens: 335, reportedTokens: null, tokens: 335 });
  });

  test('decides where the provider has reported nothing (B28, B29)', () => {
    expect(contextSize(stateAfter(...conversation(null)), ownModel, nothing).tokens).toBe(30);
  });

  test('of an empty session is what it carries', () => {
    expect(contextSize(stateAfter(created()), ownModel, { ...nothing, promptTokens: 7 })).toEqual({
      localTokens: 7,
      reportedTokens: null,
      tokens: 7,
    });
  });
});

describe('the size that the provider has reported', () => {
  test('decides where it is larger than the local count', () => {
    expect(contextSize(stateAfter(...conversation(500)), ownModel, nothing)).toEqual({
      localTokens: 30,
      reportedTokens: 500,
      tokens: 500,
    });
  });

  test('never lowers the local count (C16, C17)', () => {
    expect(contextSize(stateAfter(...conversation(12)), ownModel, nothing)).toEqual({
      localTokens: 30,
      reportedTokens: 12,
      tokens: 30,
    });
  });

  test('grows by what was added since and by the pending prompt, and has counted system and tools already (C35)', () => {
    const state = stateAfter(...conversation(500), answered(1, { id: 3, tokens: 40 }));

    const size = contextSize(state, ownModel, { systemTokens: 100, toolTokens: 200, promptTokens: 5 });

    expect(size).toEqual({ localTokens: 375, reportedTokens: 545, tokens: 545 });
  });

  test('is forgotten by a compression (B20, B26)', () => {
    const summary = aMessage({ id: 3, kind: 'summary', tokens: 9, admissionId: null });
    const state = stateAfter(...conversation(500), compressionStarted(1), compressionCompleted(1, { summary }));

    expect(contextSize(state, ownModel, nothing)).toEqual({ localTokens: 9, reportedTokens: null, tokens: 9 });
  });

  test('is forgotten when messages are hidden', () => {
    const state = stateAfter(...conversation(500), settled(1, { outcome: 'failed', hidden: [1, 2] }));

    expect(contextSize(state, ownModel, nothing)).toEqual({ localTokens: 0, reportedTokens: null, tokens: 0 });
  });

  test('outlives the turn that it was reported in', () => {
    const state = stateAfter(...conversation(500), settled(1), queued(2));

    expect(contextSize(state, ownModel, { ...nothing, promptTokens: 5 }).tokens).toBe(505);
  });

  test('is that of the model that reported it, and says nothing of what another one would count', () => {
    const larger = { provider: 'other', model: 'large', baseUrl: null };
    const byLarger = answered(1, { id: 3, tokens: 40, answeredBy: larger }, { contextTokens: 900 });
    const silent = answered(1, { id: 4, tokens: 5 });
    const state = stateAfter(...conversation(500), byLarger);

    expect(contextSize(state, larger, nothing).tokens).toBe(900);
    expect(contextSize(state, ownModel, nothing)).toEqual({ localTokens: 70, reportedTokens: null, tokens: 70 });
    expect(contextSize(stateAfter(...conversation(500), byLarger, silent), ownModel, nothing).tokens).toBe(75);
  });
});

describe('a report of a size', () => {
  const answer = (inputTokens: number | null) => ({
    tokens: 7,
    usage: { inputTokens, outputTokens: 24_000, totalTokens: null },
  });

  test.each([
    ['is the input and the answer as it is counted here', answer(500), 1000, 507],
    ['of exactly the window is believed', answer(1000), 1000, 1007],
    ['of more than a stated window is not believed', answer(1001), 1000, null],
    ['of more than a window that nobody stated is believed', answer(50_000), null, 50_007],
    ['that says nothing of the input is not believed', answer(null), 1000, null],
    ['of zero is not believed', answer(0), 1000, null],
    ['that is missing is not believed', { tokens: 7, usage: null }, 1000, null],
  ])('%s', (_what, given, window, size) => {
    expect(reportedSize(given, window)).toBe(size);
  });
});
