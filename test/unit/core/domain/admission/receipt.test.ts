import { describe, test } from 'vitest';
import { anAdmission, anInstant, aPrincipal } from '../../../../support/builders.ts';
import { receipt } from '../../../../support/commands.ts';
import { given } from '../../../../support/given.ts';
import { compressionStarted, created, held, place, queued, started } from '../../../../support/history.ts';

describe('a receipt', () => {
  test('of a prompt that waits says how many come before it', () => {
    given(created(), queued(1), queued(2), queued(3), started(1))
      .when(receipt(3))
      .thenNothing()
      .thenAnswers({ admission: anAdmission({ seq: 3 }), ahead: 2, duplicate: true, blockedBy: [] });
  });

  test('counts by place and not by number, for a prompt may have been moved', () => {
    const moved = anAdmission({ seq: 2, position: place(1) - 1 });

    given(created(), queued(1), queued(2, moved))
      .when(receipt(1))
      .thenAnswers({ admission: anAdmission(), ahead: 1, duplicate: true, blockedBy: [] });
  });

  test('says what the queue waits for', () => {
    given(created(), queued(1), held())
      .when(receipt(1))
      .thenAnswers({ admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: ['session_held'] });
  });

  test('does not call a compression of a running turn a reason to wait', () => {
    given(created(), queued(1), queued(2), started(1), compressionStarted(1))
      .when(receipt(2))
      .thenAnswers({ admission: anAdmission({ seq: 2 }), ahead: 1, duplicate: true, blockedBy: [] });
  });

  test('of a running turn names no reason to wait', () => {
    const running = anAdmission({ status: 'started', ownerEpoch: 1, executionGeneration: 1, startedAt: anInstant });

    given(created(), queued(1), started(1), held())
      .when(receipt(1))
      .thenAnswers({ admission: running, ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('is found by the id that its sender chose', () => {
    given(created(), queued(1))
      .when(receipt(1, { key: { inputId: 'input-1', principalId: aPrincipal } }))
      .thenAnswers({ admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('of a prompt that has ended is there for ever', () => {
    const ended = anAdmission({ status: 'terminal', outcome: 'interrupted', settledAt: anInstant });

    given(created())
      .when(receipt(1, { known: ended }))
      .thenNothing()
      .thenAnswers({ admission: ended, ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('of a prompt that is not open is looked up first', () => {
    given(created()).when(receipt(1)).thenAsksFor({ admissionId: 'admission-1' });
  });

  test('of a prompt that never was does not exist', () => {
    given(created())
      .when(receipt(1, { known: null }))
      .thenRefused({ reason: 'not_found', what: 'admission' });
  });

  test('is given while the gateway drains', () => {
    given(created(), queued(1))
      .when(receipt(1), { draining: true })
      .thenAnswers({ admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] });
  });
});
