import { describe, expect, test } from 'vitest';
import { openBreaker } from '../../../../../src/core/domain/lineage/lineage.ts';
import { addSeconds } from '../../../../../src/core/domain/instant.ts';
import { aMessage, anInstant } from '../../../../support/builders.ts';
import { failCompression, startCompression } from '../../../../support/commands.ts';
import { given, now } from '../../../../support/given.ts';
import {
  compressionCompleted,
  compressionFailed,
  compressionStarted,
  created,
  prompted,
  queued,
  settled,
  started,
  stopRequested,
} from '../../../../support/history.ts';

const running = [created(), queued(1), started(1)];
const { kind, ...failed } = failCompression();

describe('a compression begins', () => {
  test('with one event that changes nothing of the transcript', () => {
    const { state, when } = given(...running, prompted(1));

    const started = when(startCompression({ trigger: 'overflow', tokensBefore: 90 }), { epoch: 1 });

    started.then(compressionStarted(1, { trigger: 'overflow', tokensBefore: 90 })).thenAnswers(null);
    expect(started.after).toEqual({
      ...state,
      seq: state.seq + 1,
      lineage: {
        ...state.lineage,
        open: {
          compressionId: 'compression-1',
          trigger: 'overflow',
          admissionId: 'admission-1',
          epoch: 1,
          startedAt: now,
          executionGeneration: 1,
        },
      },
    });
  });

  test('and never moves the boundary: a summary does nothing that must not be done twice', () => {
    const { after } = given(...running).when(startCompression());

    expect(after.open[0]).toMatchObject({ boundary: 'none', promptMessageId: null });
  });

  test.each([
    ['while another one is open', [...running, compressionStarted(1)], { reason: 'compression_open' } as const],
    ['after the turn was asked to stop', [...running, stopRequested(1)], { reason: 'stop_requested' } as const],
    ['when the turn is over', [...running, settled(1)], { reason: 'turn_over', executionGeneration: 1 } as const],
  ])('but not %s', (_when, past, refusal) => {
    given(...past)
      .when(startCompression({ compressionId: 'compression-2' }))
      .thenRefused(refusal);
  });
});

describe('a compression fails', () => {
  test('with its reason and what it cost, and the transcript is what it was', () => {
    const usage = { inputTokens: 90, outputTokens: 0, totalTokens: 90 };
    const { state, when } = given(...running, prompted(1), compressionStarted(1));

    const ended = when(failCompression({ usage }));

    ended.then(compressionFailed({ ...failed, usage }, now)).thenAnswers(null);
    expect(ended.after.messages).toEqual(state.messages);
    expect(ended.after.lineage).toMatchObject({ tipId: 'session-1', length: 1, compressions: 0, open: null });
  });

  test('also after its turn was asked to stop', () => {
    given(...running, compressionStarted(1), stopRequested(1))
      .when(failCompression({ opensBreaker: false }))
      .then(compressionFailed({ ...failed, opensBreaker: false }, now));
  });

  test('once: a second end is refused', () => {
    given(...running, compressionStarted(1), compressionFailed())
      .when(failCompression())
      .thenRefused({ reason: 'tip_moved' });
  });

  test('and never ends another one', () => {
    given(...running, compressionStarted(1))
      .when(failCompression({ compressionId: 'compression-9' }))
      .thenRefused({ reason: 'tip_moved' });
  });

  test('and another one may begin', () => {
    given(...running, compressionStarted(1), compressionFailed())
      .when(startCompression({ compressionId: 'compression-2' }))
      .then(compressionStarted(1, { compressionId: 'compression-2' }));
  });
});

describe('the breaker', () => {
  const failure = (times: number) =>
    Array.from({ length: times }, () => [compressionStarted(1), compressionFailed()]).flat();

  test.each([
    [1, 60],
    [2, 300],
    [3, 900],
    [4, 900],
    [10, 900],
  ])('after %i failures in a row stays open for %i s', (failures, seconds) => {
    const { after } = given(...running, ...failure(failures - 1), compressionStarted(1)).when(failCompression());

    expect(after.lineage.breaker).toEqual({
      failures,
      openUntil: addSeconds(now, seconds),
      reason: 'failed',
      recent: [],
    });
  });

  test('is not opened by a compression that was stopped', () => {
    const { after } = given(...running, ...failure(1), compressionStarted(1)).when(
      failCompression({ opensBreaker: false }),
    );

    expect(after.lineage.breaker).toMatchObject({ failures: 1, openUntil: addSeconds(anInstant, 60) });
  });

  test('is closed by a success, and the next failure counts from one', () => {
    const summary = aMessage({ id: 5, kind: 'summary', admissionId: null });
    const success = [compressionStarted(1), compressionCompleted(1, { summary })];
    const past = [...running, ...failure(3), ...success];

    expect(given(...past).state.lineage.breaker).toEqual({
      failures: 0,
      openUntil: null,
      reason: null,
      recent: [1],
    });
    expect(given(...past, compressionStarted(1)).when(failCompression()).after.lineage.breaker).toMatchObject({
      failures: 1,
      openUntil: addSeconds(now, 60),
    });
  });

  test('is open before its instant and closed from it on', () => {
    const { lineage } = given(...running, ...failure(1)).state;

    expect(openBreaker(lineage, addSeconds(anInstant, 0))).toBe('failed');
    expect(openBreaker(lineage, addSeconds(anInstant, 59.999))).toBe('failed');
    expect(openBreaker(lineage, addSeconds(anInstant, 60))).toBeNull();
  });

  test('is closed at first', () => {
    expect(openBreaker(given(created()).state.lineage, now)).toBeNull();
  });
});
