import { describe, expect, test } from 'vitest';
import { decide } from '../../../../../src/core/domain/session/decide.ts';
import { addressOf } from '../../../../../src/core/domain/session/state.ts';
import { aDraft, aMessage, anAdmission, aProfile, aSessionId } from '../../../../support/builders.ts';
import { claim, edit, update } from '../../../../support/commands.ts';
import { aContext, firstNewMessageId, given, now } from '../../../../support/given.ts';
import {
  compressionCompleted,
  compressionStarted,
  created,
  held,
  lost,
  place,
  prompted,
  queued,
  requeued,
  settled,
  started,
} from '../../../../support/history.ts';

describe('a claim', () => {
  test('starts the head of the queue and raises the generation', () => {
    const when = given(created(), queued(1), queued(2)).when(claim(1), { epoch: 4 });

    when.then({ ...started(1), epoch: 4 }).thenAnswers({ executionGeneration: 1 });
    expect(when.after.executionGeneration).toBe(1);
    expect(when.after.open).toEqual([
      anAdmission({ status: 'started', ownerEpoch: 4, executionGeneration: 1, startedAt: now }),
      anAdmission({ seq: 2 }),
    ]);
  });

  test('with its prompt makes the boundary model durable in the same append', () => {
    const when = given(created(), queued(1)).when(claim(1, aDraft({ text: 'Do it.' })));

    when
      .then(started(1), prompted(1, { id: firstNewMessageId, text: 'Do it.', at: now }))
      .thenAnswers({ executionGeneration: 1 });
    expect(when.after.open).toEqual([
      anAdmission({
        status: 'started',
        ownerEpoch: 1,
        executionGeneration: 1,
        boundary: 'model',
        step: 1,
        promptMessageId: firstNewMessageId,
        startedAt: now,
      }),
    ]);
  });

  test('has the next generation after every earlier turn', () => {
    given(created(), queued(1), started(1), prompted(1), settled(1), queued(2))
      .when(claim(2))
      .then(started(2, { generation: 2 }))
      .thenAnswers({ executionGeneration: 2 });
  });

  test('of a requeued turn has a new generation, so that a late stop never hits it', () => {
    given(created(), queued(1), started(1), requeued(1, 1))
      .when(claim(1))
      .then(started(1, { generation: 2 }))
      .thenAnswers({ executionGeneration: 2 });
  });

  test('takes the lowest position, not the lowest number', () => {
    const moved = queued(2, { position: place(1) - 1 });

    given(created(), queued(1), moved).when(claim(2)).thenAnswers({ executionGeneration: 1 });
  });

  test('takes a requeued turn before everything that came after it', () => {
    given(created(), queued(1), queued(2), started(1), requeued(1, 1))
      .when(claim(2))
      .thenRefused({ reason: 'not_claimable' });
  });
});

describe('a claim is refused', () => {
  test.each([
    ['while a turn runs', [created(), queued(1), queued(2), started(1)]],
    ['while the fate of a turn is unknown', [created(), queued(1), queued(2), started(1), prompted(1), lost(1)]],
    ['for a follower that is not the head', [created(), queued(1), queued(2)]],
    ['while the session is held', [created(), queued(2), held()]],
    ['while it is compressed by hand', [created(), queued(2), manualCompression()]],
    ['for a prompt that is not there', [created()]],
    ['for a prompt that has ended', [created(), queued(2), cancelledOf(2)]],
    ['for a steer: it joins a turn and never is one', [created(), queued(2, { delivery: 'steer' })]],
  ])('%s', (_when, past) => {
    given(...past)
      .when(claim(2))
      .thenRefused({ reason: 'not_claimable' });
  });

  test('while the gateway drains', () => {
    given(created(), queued(1)).when(claim(1), { draining: true }).thenRefused({ reason: 'draining' });
  });
});

test('a steer before it does not keep the head from being claimed', () => {
  given(created(), queued(1, { delivery: 'steer' }), queued(2))
    .when(claim(2))
    .thenAnswers({ executionGeneration: 1 });
});

function manualCompression() {
  return { ...compressionStarted(0, { trigger: 'manual' }), admissionId: null, executionGeneration: 1 };
}

function cancelledOf(n: number) {
  return { type: 'admission.cancelled', admissionId: `admission-${String(n)}`, executionGeneration: null } as const;
}

test('a message that the claim stores is the whole draft with an identity', () => {
  const parts = [{ type: 'image', mediaType: 'image/png', data: 'AAAA' } as const];
  const draft = aDraft({ parts, tokens: 1605 });
  const message = aMessage({ parts, tokens: 1605, id: firstNewMessageId, at: now });

  given(created(), queued(1)).when(claim(1, draft)).then(started(1), prompted(1, message));
});

test('a claim of a prompt that was edited, for another model, or before a compression is refused', () => {
  const { revision, payloadDigest } = anAdmission();
  const preparedFor = { revision, model: addressOf(aProfile()), compressions: 0 };
  const waiting = given(created(), queued(1));
  const edited = waiting.when(edit(1)).after;
  const moved = waiting.when(update({ model: { ...preparedFor.model, model: 'another-model' } })).after;

  const again = decide(aSessionId, edited, edit(1, { payloadDigest }), aContext());
  const putBack = again.kind === 'accepted' ? again.state : null;
  const byHand = { ...compressionCompleted(0, { trigger: 'manual' }), admissionId: null, executionGeneration: 1 };
  const compressed = given(created(), queued(1), manualCompression(), byHand).state;

  const decisions = [waiting.state, edited, moved, putBack, compressed].map((state) =>
    decide(aSessionId, state, { ...claim(1), preparedFor }, aContext()),
  );

  const refused = { kind: 'refused', refusal: { reason: 'not_claimable' } };
  expect(decisions).toEqual([expect.objectContaining({ kind: 'accepted' }), refused, refused, refused, refused]);
});
