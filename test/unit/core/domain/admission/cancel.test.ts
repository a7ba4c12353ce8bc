import { describe, expect, test } from 'vitest';
import { anAdmission, anInstant, aPrincipal } from '../../../../support/builders.ts';
import { cancel } from '../../../../support/commands.ts';
import { given, now } from '../../../../support/given.ts';
import { created, lost, prompted, queued, someEvidence, started } from '../../../../support/history.ts';

const cancelled = anAdmission({ status: 'terminal', outcome: 'cancelled', revision: 2, settledAt: now });
const cancelledEvent = { type: 'admission.cancelled', admissionId: 'admission-1', executionGeneration: null } as const;

describe('cancelling a prompt that waits', () => {
  test('ends it as cancelled, and the others keep their places', () => {
    const when = given(created(), queued(1), queued(2)).when(cancel(1));

    when.then(cancelledEvent).thenAnswers({ admission: cancelled, ahead: 0, duplicate: false, blockedBy: [] });
    expect(when.after.open).toEqual([anAdmission({ seq: 2 })]);
  });

  test('works with the id that its sender chose', () => {
    given(created(), queued(1))
      .when(cancel(1, { key: { inputId: 'input-1', principalId: aPrincipal } }))
      .then(cancelledEvent);
  });

  test('works with the revision that it has', () => {
    given(created(), queued(1))
      .when(cancel(1, { revision: 1 }))
      .then(cancelledEvent);
  });

  test('is refused with a revision that it no longer has', () => {
    const edited = anAdmission({ revision: 3 });

    given(created(), queued(1, edited))
      .when(cancel(1, { revision: 2 }))
      .thenRefused({
        reason: 'revision_conflict',
        revision: 3,
        receipt: { admission: edited, ahead: 0, duplicate: false, blockedBy: [] },
      });
  });

  test('works while the gateway drains', () => {
    given(created(), queued(1)).when(cancel(1), { draining: true }).then(cancelledEvent);
  });

  test('never touches the prompt of another principal with the same input id', () => {
    given(created(), queued(1))
      .when(cancel(1, { key: { inputId: 'input-1', principalId: 'somebody-else' }, known: null }))
      .thenRefused({ reason: 'not_found', what: 'admission' });
  });
});

describe('cancelling again', () => {
  test.each([null, 1, 2])('with revision %j gives the same receipt', (revision) => {
    given(created())
      .when(cancel(1, { known: cancelled, revision }))
      .thenNothing()
      .thenAnswers({ admission: cancelled, ahead: 0, duplicate: false, blockedBy: [] });
  });
});

describe('cancelling comes too late for', () => {
  test('a turn that runs', () => {
    const running = anAdmission({ status: 'started', ownerEpoch: 1, executionGeneration: 1, startedAt: anInstant });

    given(created(), queued(1), started(1))
      .when(cancel(1))
      .thenRefused({
        reason: 'not_queued',
        receipt: { admission: running, ahead: 0, duplicate: false, blockedBy: [] },
      });
  });

  test('a turn whose fate is unknown', () => {
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

    given(created(), queued(1), started(1), prompted(1), lost(1))
      .when(cancel(1))
      .thenRefused({
        reason: 'not_queued',
        receipt: { admission: unknown, ahead: 0, duplicate: false, blockedBy: [] },
      });
  });

  test('one that has ended otherwise', () => {
    const completed = anAdmission({ status: 'terminal', outcome: 'completed', settledAt: anInstant });

    given(created())
      .when(cancel(1, { known: completed }))
      .thenRefused({
        reason: 'not_queued',
        receipt: { admission: completed, ahead: 0, duplicate: false, blockedBy: [] },
      });
  });
});

test('a prompt that is not open is looked up', () => {
  given(created()).when(cancel(1)).thenAsksFor({ admissionId: 'admission-1' });
});

test('a prompt that never was is not found', () => {
  given(created())
    .when(cancel(1, { known: null }))
    .thenRefused({ reason: 'not_found', what: 'admission' });
});
