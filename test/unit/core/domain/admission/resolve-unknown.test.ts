import { describe, expect, test } from 'vitest';
import type { Admission } from '../../../../../src/core/domain/admission/admission.ts';
import { aMessage, anAdmission, anInstant, aPrincipal } from '../../../../support/builders.ts';
import { claim, resolveUnknown, submit } from '../../../../support/commands.ts';
import { firstNewMessageId, given, nextAdmissionSeq, now } from '../../../../support/given.ts';
import {
  answered,
  appended,
  callFinished,
  callStarted,
  created,
  held,
  lost,
  place,
  prompted,
  queued,
  resolved,
  someEvidence,
  started,
  toolResult,
} from '../../../../support/history.ts';

const past = [created(), queued(1), queued(2), started(1), prompted(1), lost(1)];

const lostTurn = anAdmission({
  status: 'unknown',
  ownerEpoch: 1,
  executionGeneration: 1,
  boundary: 'model',
  step: 1,
  promptMessageId: 1,
  evidence: someEvidence(),
  startedAt: anInstant,
});

const closingNote = aMessage({
  id: firstNewMessageId,
  role: 'assistant',
  kind: 'note',
  text: '[The gateway stopped during this turn. Its answer is lost.]',
  tokens: 19,
  at: now,
});

const retry = anAdmission({
  seq: nextAdmissionSeq,
  admissionId: 'admission-of-retry',
  inputId: 'input-1~1',
  requestDigest: 'digest-of-request-1',
  payloadDigest: 'digest-of-payload-1',
  position: place(1) + 1,
  acceptedAt: now,
});

describe('discarding an unknown turn', () => {
  const discarded: Admission = {
    ...lostTurn,
    status: 'terminal',
    outcome: 'interrupted',
    resolution: { action: 'discard', by: aPrincipal, at: now },
    settledAt: now,
  };

  test('ends it as interrupted, says so in the transcript, and keeps who did it', () => {
    given(...past)
      .when(resolveUnknown(1))
      .then(appended(1, closingNote), resolved(1, { at: now }))
      .thenAnswers({
        receipt: { admission: discarded, ahead: 0, duplicate: false, blockedBy: [] },
        retry: null,
      });
  });

  test('lets the next follower run', () => {
    const { after } = given(...past).when(resolveUnknown(1));

    expect(after.open).toEqual([anAdmission({ seq: 2 })]);
  });

  test('gives every open tool call a result that claims nothing', () => {
    const calls = ['call-1', 'call-2', 'call-3'].map((id) => ({ id, name: 'write_file', arguments: '{}' }));
    const asking = [
      answered(1, { id: 2, toolCalls: calls, toolCallIds: calls.map(({ id }) => id) }),
      ...calls.map(({ id }) => callStarted(1, id)),
    ];
    const second = [callFinished(1, 'call-2'), toolResult(1, 'call-2', { id: 3 })];
    const text = '[The gateway stopped while this call was open. Its outcome is unknown.]';
    const result = { role: 'tool', kind: 'tool', text, tokens: 22, at: now } as const;

    given(created(), queued(1), started(1), prompted(1), ...asking, ...second, lost(1))
      .when(resolveUnknown(1))
      .then(
        appended(1, aMessage({ ...result, id: firstNewMessageId, toolCallId: 'call-1' })),
        appended(1, aMessage({ ...result, id: firstNewMessageId + 1, toolCallId: 'call-3' })),
        appended(1, { ...closingNote, id: firstNewMessageId + 2, originId: firstNewMessageId + 2 }),
        resolved(1, { at: now }),
      );
  });

  test('again gives the same receipt and changes nothing', () => {
    given(created(), queued(2))
      .when(resolveUnknown(1, { known: discarded }))
      .thenNothing()
      .thenAnswers({
        receipt: { admission: discarded, ahead: 0, duplicate: true, blockedBy: [] },
        retry: null,
      });
  });

  test('is refused when it was resolved with another action', () => {
    const retried: Admission = {
      ...discarded,
      resolution: { action: 'retry', by: aPrincipal, at: now },
      retriedBy: 'admission-of-retry',
    };

    given(created())
      .when(resolveUnknown(1, { known: retried }))
      .thenRefused({
        reason: 'already_resolved',
        receipt: { admission: retried, ahead: 0, duplicate: true, blockedBy: [] },
      });
  });

  test('is a repeat when the policy has discarded it before', () => {
    const byPolicy: Admission = { ...discarded, resolution: { action: 'discard', by: 'policy', at: anInstant } };

    given(created())
      .when(resolveUnknown(1, { known: byPolicy }))
      .thenNothing()
      .thenAnswers({ receipt: { admission: byPolicy, ahead: 0, duplicate: true, blockedBy: [] }, retry: null });
  });
});

describe('retrying an unknown turn', () => {
  const retried: Admission = {
    ...lostTurn,
    status: 'terminal',
    outcome: 'interrupted',
    resolution: { action: 'retry', by: aPrincipal, at: now },
    retriedBy: 'admission-of-retry',
    settledAt: now,
  };

  test('ends it as interrupted and admits its prompt anew', () => {
    given(...past)
      .when(resolveUnknown(1, { action: 'retry' }))
      .then(
        appended(1, closingNote),
        resolved(1, { action: 'retry', at: now }, { retriedBy: 'admission-of-retry' }),
        queued(1, retry, { payloadFrom: 'admission-1' }),
      )
      .thenAnswers({
        receipt: { admission: retried, ahead: 0, duplicate: false, blockedBy: [] },
        retry: { admission: retry, ahead: 0, duplicate: false, blockedBy: [] },
      });
  });

  test('puts it before every follower', () => {
    const { after } = given(...past).when(resolveUnknown(1, { action: 'retry' }));

    expect(after.open).toEqual([retry, anAdmission({ seq: 2 })]);
  });

  test.each([
    ['far behind the old place', place(1) + 2, place(1) + 1],
    ['just behind the old place', place(1) + 1, place(1)],
    ['at the old place', place(1), place(1) - 1],
    ['before the old place', place(1) - 5, place(1) - 6],
  ])('puts it before a follower that was moved to the front, %s', (_where, position, expected) => {
    const { after } = given(created(), queued(1), queued(2, { position }), started(1), prompted(1), lost(1)).when(
      resolveUnknown(1, { action: 'retry' }),
    );

    expect(after.open.map((open) => [open.admissionId, open.position])).toEqual([
      ['admission-of-retry', expected],
      ['admission-2', position],
    ]);
  });

  test('is exempt from the limit of the queue', () => {
    const limits = { maxQueuedPerSession: 1, maxLostStarts: 3 };
    const { after } = given(...past).when(resolveUnknown(1, { action: 'retry' }), { limits });

    expect(after.open).toHaveLength(2);
  });

  test('waits under a hold', () => {
    const when = given(...past, held()).when(resolveUnknown(1, { action: 'retry' }));

    when.thenAnswers({
      receipt: { admission: retried, ahead: 0, duplicate: false, blockedBy: [] },
      retry: { admission: retry, ahead: 0, duplicate: false, blockedBy: ['session_held'] },
    });
  });

  test('again gives the same receipts and admits nothing', () => {
    given(created(), queued(1, retry), queued(2))
      .when(resolveUnknown(1, { action: 'retry', retryAdmissionId: 'another-id', known: retried }))
      .thenNothing()
      .thenAnswers({
        receipt: { admission: retried, ahead: 0, duplicate: true, blockedBy: [] },
        retry: { admission: retry, ahead: 0, duplicate: true, blockedBy: [] },
      });
  });

  test('of a retry counts on: a~1 is followed by a~2 and never by a~1~1', () => {
    const again = { inputId: 'input-1~1', seq: 1 };
    const when = given(created(), queued(1, again), started(1), prompted(1), lost(1)).when(
      resolveUnknown(1, { action: 'retry' }),
    );

    expect(when.after.open.map(({ inputId }) => inputId)).toEqual(['input-1~2']);
  });

  test('of the ninth retry is the tenth', () => {
    const when = given(created(), queued(1, { inputId: 'a~9' }), started(1), prompted(1), lost(1)).when(
      resolveUnknown(1, { action: 'retry' }),
    );

    expect(when.after.open.map(({ inputId }) => inputId)).toEqual(['a~10']);
  });

  test('runs next', () => {
    const history = [created(), queued(1, retry), queued(2)];

    given(...history)
      .when({ ...claim(2) })
      .thenRefused({ reason: 'not_claimable' });
    expect(
      given(...history).when({ kind: 'claim', admissionId: 'admission-of-retry', prompt: null }).decision.kind,
    ).toBe('accepted');
  });

  test('leaves the old id with its old outcome: submitting it again starts nothing', () => {
    given(created(), queued(1, retry))
      .when(submit(1, { known: retried }))
      .thenNothing()
      .thenAnswers({ admission: retried, ahead: 0, duplicate: true, blockedBy: [] });
  });
});

describe('resolving is refused', () => {
  test('with the generation of another turn', () => {
    given(...past)
      .when(resolveUnknown(1, { executionGeneration: 2 }))
      .thenRefused({ reason: 'stale_generation', executionGeneration: 1 });
  });

  test('for a prompt that waits', () => {
    given(created(), queued(1))
      .when(resolveUnknown(1))
      .thenRefused({
        reason: 'not_unknown',
        receipt: { admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] },
      });
  });

  test('for a turn that runs', () => {
    const running = anAdmission({ status: 'started', ownerEpoch: 1, executionGeneration: 1, startedAt: anInstant });

    given(created(), queued(1), started(1))
      .when(resolveUnknown(1))
      .thenRefused({
        reason: 'not_unknown',
        receipt: { admission: running, ahead: 0, duplicate: true, blockedBy: [] },
      });
  });

  test('for a turn whose end was seen: its outcome never flips', () => {
    const completed = anAdmission({
      status: 'terminal',
      outcome: 'completed',
      executionGeneration: 1,
      settledAt: anInstant,
    });

    given(created())
      .when(resolveUnknown(1, { known: completed }))
      .thenRefused({
        reason: 'not_unknown',
        receipt: { admission: completed, ahead: 0, duplicate: true, blockedBy: [] },
      });
  });

  test('for a prompt that never was', () => {
    given(created())
      .when(resolveUnknown(1, { known: null }))
      .thenRefused({ reason: 'not_found', what: 'admission' });
  });
});

test('a turn that is not open is looked up first', () => {
  given(created()).when(resolveUnknown(1)).thenAsksFor({ admissionId: 'admission-1' });
});

test('releasing a hold never lifts an unknown turn', () => {
  const { after } = given(...past, held()).when({ kind: 'release', by: aPrincipal, until: null });

  expect(after.open[0]).toEqual(lostTurn);
});
