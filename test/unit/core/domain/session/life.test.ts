import { describe, expect, test } from 'vitest';
import { receiptOf } from '../../../../../src/core/domain/admission/receipt.ts';
import { sessionEvent } from '../../../../../src/core/domain/session/decision.ts';
import { anAdmission } from '../../../../support/builders.ts';
import * as commands from '../../../../support/commands.ts';
import { given, now } from '../../../../support/given.ts';
import { created, held, queued, started } from '../../../../support/history.ts';

const updated = (changes: object) => sessionEvent({ type: 'session.updated', changes, by: 'local' });
const cancelled = { ...sessionEvent({ type: 'admission.cancelled' }), admissionId: 'admission-1' };
const deleted = sessionEvent({ type: 'session.deleted', by: 'local' });

describe('an update', () => {
  test('changes what it names and raises the revision', () => {
    const when = given(created({ title: 'Before' })).when(commands.update({ title: 'After', archived: true }));

    when.then(updated({ title: 'After', archived: true })).thenAnswers({ revision: 2 });
    expect(when.after).toMatchObject({ profile: { title: 'After' }, archived: true, pinned: false });
  });

  test('that changes nothing is no event', () => {
    given(created({ title: 'Trip' }))
      .when(commands.update({ title: 'Trip', archived: false, pinned: false }))
      .thenNothing()
      .thenAnswers({ revision: 1 });
  });

  test('of an older revision is refused, whatever it asks for', () => {
    given(created(), held())
      .when(commands.update({ title: 'Trip' }, { revision: 1 }))
      .thenRefused({ reason: 'revision_conflict', revision: 2, receipt: null });
  });

  test('of the model waits for the turn that runs, and of the title does not', () => {
    const model = { provider: 'custom', model: 'another', baseUrl: null };
    const running = given(created(), queued(1), started(1));

    expect(running.when(commands.update({ model })).decision).toMatchObject(refusedAsBusy);
    running.when(commands.update({ title: 'Trip' })).then(updated({ title: 'Trip' }));
  });

  test.each([
    ['of the model alone stays with the provider and the address', { model: 'b' }, ['second', 'b', 'http://second']],
    ['of the provider comes with its own address', { provider: 'third', model: 'a' }, ['third', 'a', null]],
    [
      'that names the provider of the session stays at its address',
      { provider: 'second', model: 'b' },
      ['second', 'b', 'http://second'],
    ],
    [
      'of the address stays with neither',
      { provider: 'second', model: 'a', baseUrl: 'http://other' },
      ['second', 'a', 'http://other'],
    ],
  ])('%s', (_what, change, [provider, model, baseUrl]) => {
    given(created({ provider: 'second', model: 'a', baseUrl: 'http://second' }))
      .when(commands.update({ model: change }))
      .then(updated({ model: { provider, model, baseUrl } }));
  });

  test("to the provider's standard address changes nothing for a session that names no address", () => {
    const change = { provider: 'second', model: 'a', baseUrl: 'http://second', isStandardAddress: true };

    given(created({ provider: 'second', model: 'a', baseUrl: null }))
      .when(commands.update({ model: change }))
      .thenNothing();
    given(created({ provider: 'second', model: 'a', baseUrl: 'http://other' }))
      .when(commands.update({ model: change }))
      .then(updated({ model: { provider: 'second', model: 'a', baseUrl: 'http://second' } }));
  });

  test('by a title that was made never replaces one that somebody gave', () => {
    given(created({ title: 'Mine' }))
      .when(commands.update({ title: 'Made' }, { ifUntitled: true }))
      .thenNothing();
    given(created())
      .when(commands.update({ title: 'Made' }, { ifUntitled: true }))
      .then(updated({ title: 'Made' }));
  });
});

/** The receipt says what keeps it busy. */
const refusedAsBusy = {
  kind: 'refused',
  refusal: { reason: 'session_busy', receipt: { admission: { admissionId: 'admission-1' } } },
};

describe('a deletion', () => {
  test('leaves nothing that a person wrote', () => {
    const when = given(created({ title: 'Trip', cwd: '/home', systemPrompt: 'Be kind.', systemPromptTokens: 3 })).when(
      commands.remove,
    );

    when.then(deleted).thenAnswers({ deletedAt: now });
    expect(when.after).toMatchObject({
      deletedAt: now,
      messages: [],
      hold: null,
      profile: { title: null, cwd: null, systemPrompt: null, systemPromptTokens: 0 },
    });
  });

  test.each([
    ['waits', [queued(1)]],
    ['runs', [queued(1), started(1)]],
  ])('is refused while a prompt %s', (_what, events) => {
    expect(given(created(), ...events).when(commands.remove).decision).toMatchObject(refusedAsBusy);
  });

  test('may be repeated', () => {
    given(created(), deleted).when(commands.remove, { now: '2031-01-01T00:00:00.000Z' }).thenNothing();
  });

  test('leaves the receipts of known input ids, and a conflict where the content differs', () => {
    const { state, when } = given(created(), queued(1), cancelled, deleted);
    const known = anAdmission({ status: 'terminal', outcome: 'cancelled' });
    const receipt = receiptOf(state, known, true);

    when(commands.submit(1, { known })).thenNothing().thenAnswers(receipt);
    when(commands.receipt(1, { known })).thenNothing().thenAnswers(receipt);
    when(commands.submit(1, { known, requestDigest: 'other' })).thenRefused({ reason: 'admission_conflict', receipt });
  });

  test('makes everything else not found, a fresh prompt too, also while the gateway drains', () => {
    const { when } = given(created(), deleted);
    const refusal = { reason: 'not_found', what: 'session' } as const;

    when(commands.submit(1)).thenAsksFor({ inputId: 'input-1', principalId: 'local' });
    when(commands.submit(1, { known: null })).thenRefused(refusal);
    when(commands.submit(1, { known: null }), { draining: true }).thenRefused(refusal);
    when(commands.hold()).thenRefused(refusal);
    when(commands.update({ title: 'Trip' })).thenRefused(refusal);
    when(commands.cancel(1, { known: null })).thenRefused(refusal);
  });
});
