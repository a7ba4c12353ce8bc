import { describe, expect, test } from 'vitest';
import type { SessionEventBody } from '../../../../../src/core/domain/session/events.ts';
import { claim, compressByHand, failCompression, interrupt, rotate, submit } from '../../../../support/commands.ts';
import { given } from '../../../../support/given.ts';
import { created, held, lost, prompted, queued, settled, started } from '../../../../support/history.ts';
import type { Told } from '../../../../support/history.ts';

const { kind, ...fields } = compressByHand();

/** The compression by hand that follows one turn. */
const byHand = ofGeneration(2, { type: 'compression.started', trigger: 'manual', ...fields });
const turnDone = [created(), queued(1), started(1), prompted(1), settled(1)];
const running = [...turnDone, byHand];

function ofGeneration(executionGeneration: number, body: SessionEventBody): Told {
  return { ...body, admissionId: null, executionGeneration };
}

describe('a compression by hand', () => {
  test('raises the generation like a claim', () => {
    const begun = given(...turnDone).when(compressByHand());

    begun.then(byHand).thenAnswers({ executionGeneration: 2 });
    expect(begun.after).toMatchObject({
      executionGeneration: 2,
      lineage: { open: { trigger: 'manual', admissionId: null, executionGeneration: 2 } },
    });
  });

  test.each([
    ['with followers that wait', [...turnDone, queued(2)]],
    ['of a session that is held', [...turnDone, held()]],
  ])('is allowed %s', (_when, past) => {
    expect(given(...past).when(compressByHand()).after.executionGeneration).toBe(2);
  });

  test.each([
    ['while a turn is started', [...turnDone, queued(2), started(2, { generation: 2 })]],
    ['while the fate of a turn is unknown', [created(), queued(1), started(1), prompted(1), lost(1)]],
    ['while another one runs', running],
  ])('is refused %s', (_when, past) => {
    expect(given(...past).when(compressByHand({ compressionId: 'compression-2' })).decision).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'session_busy' },
    });
  });

  test('is refused while the gateway stops', () => {
    given(...turnDone)
      .when(compressByHand(), { draining: true })
      .thenRefused({ reason: 'draining' });
  });

  test('keeps everything from being claimed, and prompts are queued', () => {
    given(...running, queued(2))
      .when(claim(2))
      .thenRefused({ reason: 'not_claimable' });
    expect(given(...running).when(submit(2)).after.open).toHaveLength(1);
  });

  test('is stopped by its generation, and has ended then', () => {
    const stopped = given(...running).when(interrupt(2));

    stopped.thenAnswers({ executionGeneration: 2, admissionId: null });
    expect(stopped.after.lineage).toMatchObject({ open: null, breaker: { failures: 0, openUntil: null } });
  });

  test.each([
    ['an earlier generation', 1, 'turn_over'],
    ['a later generation', 3, 'stale_generation'],
  ])('is not stopped by %s', (_which, generation, reason) => {
    given(...running)
      .when(interrupt(generation))
      .thenRefused({ reason, executionGeneration: 2 } as never);
  });

  test('commits nothing after it was stopped', () => {
    const stop = ofGeneration(2, {
      type: 'compression.failed',
      compressionId: 'compression-1',
      failure: { reason: 'aborted', message: 'Stopped.', retryable: true, providerStatus: null, retryAfterMs: null },
      usage: null,
      opensBreaker: false,
    });

    given(...running, stop)
      .when(rotate({ executionGeneration: 2 }))
      .thenRefused({ reason: 'turn_over', executionGeneration: 2 });
    given(...running, stop)
      .when(failCompression())
      .thenRefused({ reason: 'tip_moved' });
  });

  test('commits nothing of an owner that was superseded', () => {
    given(...running)
      .when(rotate({ executionGeneration: 2 }), { epoch: 9 })
      .thenRefused({ reason: 'tip_moved' });
  });
});
