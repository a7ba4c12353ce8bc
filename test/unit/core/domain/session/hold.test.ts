import { describe, expect, test } from 'vitest';
import { aPrincipal } from '../../../../support/builders.ts';
import { claim, hold, release, settle } from '../../../../support/commands.ts';
import { given, now } from '../../../../support/given.ts';
import { created, held, prompted, queued, started } from '../../../../support/history.ts';

const released = { type: 'session.released', by: aPrincipal, admissionId: null, executionGeneration: null } as const;

describe('a hold', () => {
  test('is kept with its reason, its end and who asked for it, and raises the revision', () => {
    const until = '2030-01-02T00:00:00.000Z';
    const when = given(created()).when(hold({ reason: 'rate_limited', until, by: 'policy' }));

    when.then(held({ reason: 'rate_limited', until, by: 'policy', at: now })).thenAnswers({ revision: 2 });
    expect(when.after.hold).toEqual({ reason: 'rate_limited', until, by: 'policy', at: now });
  });

  test('replaces an earlier one', () => {
    const when = given(created(), held()).when(hold({ reason: 'auth' }));

    when.thenAnswers({ revision: 3 });
    expect(when.after.hold).toEqual({ reason: 'auth', until: null, by: aPrincipal, at: now });
  });

  test('keeps what waits from being claimed', () => {
    given(created(), queued(1), held()).when(claim(1)).thenRefused({ reason: 'not_claimable' });
  });

  test('lets what runs go on to its end', () => {
    given(created(), queued(1), started(1), prompted(1), held()).when(settle()).thenAnswers({ outcome: 'completed' });
  });
});

describe('a release', () => {
  test('ends the hold and raises the revision', () => {
    const when = given(created(), held()).when(release);

    when.then(released).thenAnswers({ revision: 3 });
    expect(when.after.hold).toBeNull();
  });

  test('without a hold changes nothing', () => {
    given(created()).when(release).thenNothing().thenAnswers({ revision: 1 });
  });
});

describe('a release that a timer asks for', () => {
  const until = '2030-01-02T00:00:00.000Z';
  const byTimer = { kind: 'release', by: 'timer', until } as const;

  test('ends the hold that ends at that instant', () => {
    given(created(), held({ until }))
      .when(byTimer)
      .then({ ...released, by: 'timer' });
  });

  test.each([
    ['a later one', '2030-01-03T00:00:00.000Z'],
    ['one without an end', null],
  ])('never ends %s', (_what, other) => {
    given(created(), held({ until: other }))
      .when(byTimer)
      .thenNothing()
      .thenAnswers({ revision: 2 });
  });

  test('is nothing where nobody is held', () => {
    given(created()).when(byTimer).thenNothing().thenAnswers({ revision: 1 });
  });
});

test('a release by a person ends a hold whatever its end', () => {
  given(created(), held({ until: '2030-01-02T00:00:00.000Z' }))
    .when(release)
    .then(released);
});
