import { describe, expect, test } from 'vitest';
import { anAdmission, anInstant } from '../../../../support/builders.ts';
import { interrupt, settle } from '../../../../support/commands.ts';
import { given, now } from '../../../../support/given.ts';
import {
  created,
  lost,
  prompted,
  queued,
  settled,
  someEvidence,
  started,
  stopRequested,
} from '../../../../support/history.ts';

const running = [created(), queued(1), queued(2), started(1), prompted(1)];

describe('interrupting the running turn', () => {
  test('is accepted once the request is part of the history', () => {
    const when = given(...running).when(interrupt(1, 'somebody'));

    when.then(stopRequested(1, { by: 'somebody' })).thenAnswers({ executionGeneration: 1, admissionId: 'admission-1' });
    expect(when.after.open[0]).toMatchObject({ status: 'started', stopRequested: { by: 'somebody', at: now } });
  });

  test('works before anything was sent', () => {
    given(created(), queued(1), started(1)).when(interrupt(1)).then(stopRequested(1));
  });

  test('again changes nothing, and the first one stays the one who asked', () => {
    const when = given(...running, stopRequested(1, { by: 'first' })).when(interrupt(1, 'second'));

    when.thenNothing().thenAnswers({ executionGeneration: 1, admissionId: 'admission-1' });
    expect(when.after.open[0]?.stopRequested?.by).toBe('first');
  });

  test('works while the gateway drains', () => {
    given(...running)
      .when(interrupt(1, 'shutdown'), { draining: true })
      .then(stopRequested(1, { by: 'shutdown' }));
  });

  test('is kept: the turn never ends as completed after it', () => {
    given(...running, stopRequested(1))
      .when(settle({ outcome: 'completed' }))
      .thenAnswers({ outcome: 'interrupted' });
  });
});

describe('an interrupt that comes late', () => {
  test('says that its turn is over', () => {
    given(...running, settled(1))
      .when(interrupt(1))
      .thenRefused({ reason: 'turn_over', executionGeneration: 1 });
  });

  test('never hits the next turn', () => {
    given(...running, settled(1), started(2, { generation: 2 }))
      .when(interrupt(1))
      .thenRefused({ reason: 'turn_over', executionGeneration: 2 });
  });
});

test('an interrupt with a generation that nobody has given out is refused as such', () => {
  given(...running)
    .when(interrupt(2))
    .thenRefused({ reason: 'stale_generation', executionGeneration: 1 });
});

test('an interrupt where nothing has ever run is refused', () => {
  given(created(), queued(1)).when(interrupt(1)).thenRefused({ reason: 'stale_generation', executionGeneration: 0 });
});

test('an unknown turn can not be interrupted: its owner is gone, it wants to be resolved', () => {
  const unknown = anAdmission({
    status: 'unknown',
    ownerEpoch: 1,
    executionGeneration: 1,
    boundary: 'model',
    step: 1,
    promptMessageId: 1,
    evidence: someEvidence(),
    startedAt: anInstant,
  });

  given(...running, lost(1))
    .when(interrupt(1))
    .thenRefused({
      reason: 'unknown_execution',
      receipt: { admission: unknown, ahead: 0, duplicate: true, blockedBy: [] },
    });
});
