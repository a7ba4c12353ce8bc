import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage, anAdmission, anInstant } from '../../../../support/builders.ts';
import { submit } from '../../../../support/commands.ts';
import { given, nextAdmissionSeq, now } from '../../../../support/given.ts';
import { appended, created, held, lost, place, prompted, queued, started } from '../../../../support/history.ts';

const fresh = anAdmission({
  seq: nextAdmissionSeq,
  admissionId: 'admission-3',
  inputId: 'input-3',
  requestDigest: 'digest-of-request-3',
  payloadDigest: 'digest-of-payload-3',
  position: place(nextAdmissionSeq),
  acceptedAt: now,
});

describe('a fresh prompt', () => {
  test('is queued with the next number, and its receipt says so', () => {
    given(created())
      .when(submit(3))
      .then(queued(3, fresh, { payload: { text: 'Hello', parts: null } }))
      .thenAnswers({ admission: fresh, ahead: 0, duplicate: false, blockedBy: [] });
  });

  test('keeps what is more than text', () => {
    const parts: readonly ContentPart[] = [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }];

    given(created())
      .when(submit(3, { payload: { text: '', parts } }))
      .then(queued(3, fresh, { payload: { text: '', parts } }));
  });

  test('with a part that the model does not take is refused, unless its id is known', () => {
    const parts: readonly ContentPart[] = [
      { type: 'text', text: 'See' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'file', mediaType: 'application/pdf', data: 'AAAA', name: null },
      { type: 'file', mediaType: 'text/plain', data: 'AAAA', name: null },
    ];
    const limits = { maxQueuedPerSession: 100, maxLostStarts: 3, takes: () => ({ images: false, files: false }) };
    const payload = { text: 'See', parts };

    given(created())
      .when(submit(3, { payload, known: null }), { limits })
      .thenRefused({
        reason: 'unsupported_parts',
        parts: [1, 2],
      });
    given(created(), queued(2))
      .when(submit(2, { payload }), { limits })
      .thenNothing()
      .thenAnswers({ admission: anAdmission({ seq: 2 }), ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('waits behind everything that is open, the running turn included', () => {
    given(created(), queued(1), queued(2), started(1), prompted(1))
      .when(submit(3))
      .thenAnswers({ admission: fresh, ahead: 2, duplicate: false, blockedBy: [] });
  });

  test('is taken while the queue stands still, and its receipt names every reason', () => {
    given(created(), queued(1), started(1), prompted(1), lost(1), held())
      .when(submit(3))
      .thenAnswers({ admission: fresh, ahead: 1, duplicate: false, blockedBy: ['unknown_execution', 'session_held'] });
  });

  test('with an id that another principal has used is a prompt of its own', () => {
    const ofOther = anAdmission({ principalId: 'somebody-else', inputId: 'input-3' });

    given(created(), queued(1, ofOther))
      .when(submit(3))
      .thenAnswers({ admission: fresh, ahead: 1, duplicate: false, blockedBy: [] });
  });
});

describe('the same prompt again', () => {
  test('gets the receipt of the one that waits, with its place in the queue', () => {
    given(created(), queued(1), queued(2))
      .when(submit(2, { admissionId: 'another-id' }))
      .thenNothing()
      .thenAnswers({ admission: anAdmission({ seq: 2 }), ahead: 1, duplicate: true, blockedBy: [] });
  });

  test('gets the receipt of the one that runs', () => {
    const running = anAdmission({
      status: 'started',
      ownerEpoch: 1,
      executionGeneration: 1,
      boundary: 'model',
      step: 1,
      promptMessageId: 7,
      startedAt: anInstant,
    });

    given(created(), queued(1), started(1), prompted(1, { id: 7 }))
      .when(submit(1))
      .thenNothing()
      .thenAnswers({ admission: running, ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('gets the receipt of the one that has ended, and is not run again', () => {
    const ended = anAdmission({ status: 'terminal', outcome: 'completed', settledAt: anInstant });

    given(created())
      .when(submit(1, { known: ended }))
      .thenNothing()
      .thenAnswers({ admission: ended, ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('whose content was edited meanwhile is still the same: the digest of the first submission counts', () => {
    const edited = anAdmission({ revision: 2, payloadDigest: 'digest-of-the-edit' });

    given(created(), queued(1, edited))
      .when(submit(1))
      .thenNothing()
      .thenAnswers({ admission: edited, ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('is answered from what runs now, not from what somebody has read before', () => {
    const readEarlier = anAdmission();

    given(created(), queued(1), started(1))
      .when(submit(1, { known: readEarlier }))
      .thenAnswers({
        admission: anAdmission({ status: 'started', ownerEpoch: 1, executionGeneration: 1, startedAt: anInstant }),
        ahead: 0,
        duplicate: true,
        blockedBy: [],
      });
  });
});

describe('the same id with other content', () => {
  test('is refused while the first one is open, and nothing changes', () => {
    given(created(), queued(1))
      .when(submit(1, { requestDigest: 'another-digest' }))
      .thenRefused({
        reason: 'admission_conflict',
        receipt: { admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] },
      });
  });

  test('is refused when the first one has ended', () => {
    const ended = anAdmission({ status: 'terminal', outcome: 'cancelled', settledAt: anInstant });

    given(created())
      .when(submit(1, { requestDigest: 'another-digest', known: ended }))
      .thenRefused({
        reason: 'admission_conflict',
        receipt: { admission: ended, ahead: 0, duplicate: true, blockedBy: [] },
      });
  });
});

describe.each([
  { name: 'while the gateway drains', context: { draining: true }, refusal: { reason: 'draining' } as const },
  {
    name: 'while the queue is full',
    context: { limits: { maxQueuedPerSession: 1, maxLostStarts: 3 } },
    refusal: { reason: 'queue_full', limit: 1 } as const,
  },
])('$name', ({ context, refusal }) => {
  const past = [created(), queued(1)];

  test('an id that nobody knows is looked up before it is refused', () => {
    given(...past)
      .when(submit(3), context)
      .thenAsksFor({ inputId: 'input-3', principalId: 'local' });
  });

  test('a fresh prompt is refused', () => {
    given(...past)
      .when(submit(3, { known: null }), context)
      .thenRefused(refusal);
  });

  test('the id of a prompt that waits gets its receipt', () => {
    given(...past)
      .when(submit(1), context)
      .thenNothing()
      .thenAnswers({ admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('the id of a prompt that has ended gets its receipt', () => {
    const ended = anAdmission({ seq: 3, status: 'terminal', outcome: 'failed', settledAt: anInstant });

    given(...past)
      .when(submit(3, { known: ended }), context)
      .thenNothing()
      .thenAnswers({ admission: ended, ahead: 0, duplicate: true, blockedBy: [] });
  });

  test('a known id with other content is a conflict', () => {
    given(...past)
      .when(submit(1, { requestDigest: 'another-digest' }), context)
      .thenRefused({
        reason: 'admission_conflict',
        receipt: { admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] },
      });
  });
});

describe('the limit of the queue', () => {
  const limits = { maxQueuedPerSession: 2, maxLostStarts: 3 };

  test('counts what waits and not what runs', () => {
    const when = given(created(), queued(1), queued(2), started(1)).when(submit(3), { limits });

    expect(when.after.open).toHaveLength(3);
  });

  test('is reached by the prompt that fills it', () => {
    given(created(), queued(1), queued(2))
      .when(submit(3, { known: null }), { limits })
      .thenRefused({ reason: 'queue_full', limit: 2 });
  });
});

test('a session with messages takes prompts as an empty one does', () => {
  given(
    created(),
    queued(1),
    started(1),
    prompted(1),
    appended(1, aMessage({ id: 2, role: 'assistant', kind: 'answer' })),
  )
    .when(submit(3))
    .thenAnswers({ admission: fresh, ahead: 1, duplicate: false, blockedBy: [] });
});
