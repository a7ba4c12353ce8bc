import { describe, expect, test } from 'vitest';
import type { Boundary, Evidence } from '../../../../../src/core/domain/admission/admission.ts';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';
import { decide } from '../../../../../src/core/domain/session/decide.ts';
import { aMessage, anAdmission, anInstant, aSessionId } from '../../../../support/builders.ts';
import { recover } from '../../../../support/commands.ts';
import { aContext, firstNewMessageId, given, now } from '../../../../support/given.ts';
import type { Told } from '../../../../support/history.ts';
import {
  answered,
  appended,
  callFinished,
  callStarted,
  compressionFailed,
  compressionStarted,
  created,
  lost,
  prompted,
  queued,
  requeued,
  resolved,
  settled,
  someEvidence,
  started,
  stopRequested,
  toolResult,
} from '../../../../support/history.ts';

/** The owner that recovers is of the second epoch; what it finds is of the first, unless it says otherwise. */
const nextOwner = { epoch: 2 };

const waiting = [created(), queued(1), queued(2)];
const asking = { id: 2, toolCalls: [{ id: 'call-1', name: 'write', arguments: '{}' }], toolCallIds: ['call-1'] };

const askingTwice = {
  id: 2,
  toolCalls: ['call-1', 'call-2'].map((id) => ({ id, name: 'write', arguments: '{}' })),
  toolCallIds: ['call-1', 'call-2'],
};

/** A turn that has passed this boundary and no further. */
const turnAt: Readonly<Record<Boundary, readonly Told[]>> = {
  none: [...waiting, started(1)],
  model: [...waiting, started(1), prompted(1)],
  tool: [...waiting, started(1), prompted(1), answered(1, asking), callStarted(1, 'call-1')],
};

const evidenceAt: Readonly<Record<Boundary, Evidence>> = {
  none: someEvidence({ boundary: 'none', step: 0, lostAt: now }),
  model: someEvidence({ boundary: 'model', lostAt: now }),
  tool: someEvidence({ boundary: 'tool', lostAt: now, openToolCalls: ['call-1'] }),
};

const nothing = { requeued: 0, lost: 0, ended: 0 };
const oneRequeued = { ...nothing, requeued: 1 };
const oneLost = { ...nothing, lost: 1 };
const oneEnded = { ...nothing, ended: 1 };

const lostStarts = [started(1), requeued(1, 1), started(1, { generation: 2 }), requeued(1, 2, { generation: 2 })];
const third = { generation: 3 };
const crashLoop = failureOf('crash_loop', 'The gateway died 3 times while this turn was starting.');

const aborted = compressionFailed(
  {
    failure: failureOf('aborted', 'The gateway stopped while the transcript was being compressed.', {
      retryable: true,
    }),
    opensBreaker: false,
  },
  now,
);

interface Case {
  readonly what: string;
  readonly past: readonly Told[];
  readonly events: readonly Told[];
  readonly reply: typeof nothing;
  readonly policy?: 'hold' | 'discard';
}

const cases: readonly Case[] = [
  // Nothing to put right.
  { what: 'an empty session', past: [created()], events: [], reply: nothing },
  { what: 'a prompt that waits', past: waiting, events: [], reply: nothing },
  {
    what: 'a turn that is unknown already',
    past: [...turnAt.model, lost(1)],
    events: [],
    reply: nothing,
  },
  {
    what: 'a turn that is unknown already, by a policy that came later',
    past: [...turnAt.model, lost(1)],
    events: [],
    reply: nothing,
    policy: 'discard',
  },
  { what: 'a turn that has ended', past: [...turnAt.model, settled(1)], events: [], reply: nothing },
  { what: 'a turn that this owner runs, at boundary none', past: ofThisOwner('none'), events: [], reply: nothing },
  { what: 'a turn that this owner runs, at boundary model', past: ofThisOwner('model'), events: [], reply: nothing },
  { what: 'a turn that this owner runs, at boundary tool', past: ofThisOwner('tool'), events: [], reply: nothing },
  {
    what: 'a turn that this owner runs and was asked to stop',
    past: [...ofThisOwner('model'), stopRequested(1)],
    events: [],
    reply: nothing,
  },

  // Its owner is lost.
  { what: 'a lost start at boundary none', past: turnAt.none, events: [requeued(1, 1)], reply: oneRequeued },
  {
    what: 'a lost start at boundary none, whatever the policy for unknown turns',
    past: turnAt.none,
    events: [requeued(1, 1)],
    reply: oneRequeued,
    policy: 'discard',
  },
  {
    what: 'a lost turn at boundary model',
    past: turnAt.model,
    events: [lost(1, evidenceAt.model)],
    reply: oneLost,
  },
  {
    what: 'a lost turn at boundary tool',
    past: turnAt.tool,
    events: [lost(1, evidenceAt.tool)],
    reply: oneLost,
  },

  // Its owner is lost after a stop request.
  {
    what: 'a stopped turn at boundary none',
    past: [...turnAt.none, stopRequested(1)],
    events: [settled(1, { outcome: 'interrupted', evidence: evidenceAt.none })],
    reply: oneEnded,
  },
  {
    what: 'a stopped turn at boundary model',
    past: [...turnAt.model, stopRequested(1)],
    events: [stopNote(firstNewMessageId), settled(1, { outcome: 'interrupted', evidence: evidenceAt.model })],
    reply: oneEnded,
  },
  {
    what: 'a stopped turn at boundary tool',
    past: [...turnAt.tool, stopRequested(1)],
    events: [
      callNote('[The call was stopped. Whether it had an effect is unknown.]', 19),
      stopNote(firstNewMessageId + 1),
      settled(1, { outcome: 'interrupted', evidence: evidenceAt.tool }),
    ],
    reply: oneEnded,
  },
  {
    what: 'a stopped turn at boundary model, whatever the policy for unknown turns',
    past: [...turnAt.model, stopRequested(1)],
    events: [stopNote(firstNewMessageId), settled(1, { outcome: 'interrupted', evidence: evidenceAt.model })],
    reply: oneEnded,
    policy: 'discard',
  },

  // Its start was lost before.
  {
    what: 'the second lost start',
    past: [...waiting, started(1), requeued(1, 1), started(1, { generation: 2 })],
    events: [requeued(1, 2, { generation: 2 })],
    reply: oneRequeued,
  },
  {
    what: 'the third lost start',
    past: [...waiting, ...lostStarts, started(1, third)],
    events: [settled(1, { outcome: 'failed', failure: crashLoop, evidence: evidenceAt.none }, third)],
    reply: oneEnded,
  },
  {
    what: 'the third lost start after a stop request',
    past: [...waiting, ...lostStarts, started(1, third), stopRequested(1, third)],
    events: [settled(1, { outcome: 'interrupted', evidence: evidenceAt.none }, third)],
    reply: oneEnded,
  },
  {
    what: 'a third start that got as far as the model',
    past: [...waiting, ...lostStarts, started(1, third), prompted(1, {}, third)],
    events: [lost(1, evidenceAt.model, third)],
    reply: oneLost,
  },

  // The policy discards what is unknown.
  {
    what: 'a lost turn at boundary model that the policy discards',
    past: turnAt.model,
    events: [lost(1, evidenceAt.model), lostNote(firstNewMessageId), resolved(1, { by: 'policy', at: now })],
    reply: oneLost,
    policy: 'discard',
  },
  {
    what: 'a lost turn at boundary tool that the policy discards',
    past: turnAt.tool,
    events: [
      lost(1, evidenceAt.tool),
      callNote('[The gateway stopped while this call was open. Its outcome is unknown.]', 22),
      lostNote(firstNewMessageId + 1),
      resolved(1, { by: 'policy', at: now }),
    ],
    reply: oneLost,
    policy: 'discard',
  },

  {
    what: 'a stopped turn whose calls were not all started',
    past: [...waiting, started(1), prompted(1), answered(1, askingTwice), callStarted(1, 'call-2'), stopRequested(1)],
    events: [
      callNote('[The call was not started.]', 11),
      callNote('[The call was stopped. Whether it had an effect is unknown.]', 19, 'call-2', 1),
      stopNote(firstNewMessageId + 2),
      settled(1, { outcome: 'interrupted', evidence: { ...evidenceAt.tool, openToolCalls: ['call-2'] } }),
    ],
    reply: oneEnded,
  },
  {
    what: 'a lost turn whose first call was answered',
    past: [
      ...[...waiting, started(1), prompted(1), answered(1, askingTwice)],
      ...[callStarted(1, 'call-1'), callStarted(1, 'call-2')],
      ...[callFinished(1, 'call-1'), toolResult(1, 'call-1', { id: 3 })],
    ],
    events: [
      lost(1, { ...evidenceAt.tool, openToolCalls: ['call-2'] }),
      callNote('[The gateway stopped while this call was open. Its outcome is unknown.]', 22, 'call-2'),
      lostNote(firstNewMessageId + 1),
      resolved(1, { by: 'policy', at: now }),
    ],
    reply: oneLost,
    policy: 'discard',
  },
  {
    what: 'a lost turn whose calls were all answered: it may have gone on from there',
    past: [...turnAt.tool, callFinished(1, 'call-1'), toolResult(1, 'call-1', { id: 3 })],
    events: [lost(1, { ...evidenceAt.tool, openToolCalls: [] })],
    reply: oneLost,
  },

  // A compression was open.
  {
    what: 'a lost start with an open compression',
    past: [...turnAt.none, compressionStarted(1)],
    events: [aborted, requeued(1, 1)],
    reply: oneRequeued,
  },
  {
    what: 'a lost turn with an open compression',
    past: [...turnAt.model, compressionStarted(1)],
    events: [aborted, lost(1, evidenceAt.model)],
    reply: oneLost,
  },
  {
    what: 'a stopped turn with an open compression',
    past: [...turnAt.none, compressionStarted(1), stopRequested(1)],
    events: [aborted, settled(1, { outcome: 'interrupted', evidence: evidenceAt.none })],
    reply: oneEnded,
  },
  {
    what: 'a compression by hand that was open',
    past: [...waiting, byHand(1)],
    events: [aborted],
    reply: nothing,
  },
  {
    what: 'a compression by hand that this owner makes',
    past: [...waiting, byHand(2)],
    events: [],
    reply: nothing,
  },
  {
    what: 'a turn that this owner runs with an open compression',
    past: [...ofThisOwner('none'), compressionStarted(1, {}, nextOwner)],
    events: [],
    reply: nothing,
  },
];

describe('recovering', () => {
  test.each(cases)('$what', ({ past, events, reply, policy = 'hold' }) => {
    given(...past)
      .when(recover(policy), nextOwner)
      .then(...events)
      .thenAnswers(reply);
  });

  test.each(cases)('$what, again: nothing is left to do', ({ past, policy = 'hold' }) => {
    const { after } = given(...past).when(recover(policy), nextOwner);

    const again = decide(aSessionId, after, recover(policy), aContext({ ...nextOwner, nextMessageId: 2000 }));

    expect(again).toEqual({ kind: 'accepted', events: [], state: after, reply: nothing });
  });

  test.each(cases)('$what: the followers keep their places and stay what they are', ({ past, policy = 'hold' }) => {
    const { state, when } = given(...past);

    const { after } = when(recover(policy), nextOwner);

    expect(after.open.filter(({ seq }) => seq === 2)).toEqual(state.open.filter(({ seq }) => seq === 2));
  });
});

describe('after recovery', () => {
  test('a requeued turn waits at its own place, as if it had never started', () => {
    const { after } = given(...turnAt.none).when(recover(), nextOwner);

    expect(after.open).toEqual([anAdmission({ requeueCount: 1 }), anAdmission({ seq: 2 })]);
  });

  test('an unknown turn keeps the generation, the owner and the evidence that it is resolved with', () => {
    const { after } = given(...turnAt.tool).when(recover(), nextOwner);

    expect(after.open[0]).toEqual(
      anAdmission({
        status: 'unknown',
        ownerEpoch: 1,
        executionGeneration: 1,
        boundary: 'tool',
        step: 1,
        promptMessageId: 1,
        startedAt: anInstant,
        evidence: evidenceAt.tool,
      }),
    );
  });

  test('the breaker is as it was: a lost compression is nobody’s failure', () => {
    const before = given(...turnAt.none, compressionStarted(1), compressionFailed(), compressionStarted(1));

    const { after } = before.when(recover(), nextOwner);

    expect(after.lineage).toEqual({ ...before.state.lineage, open: null });
    expect(after.messages).toEqual(before.state.messages);
  });
});

function ofThisOwner(boundary: Boundary): readonly Told[] {
  return turnAt[boundary].map((event) => (event.type === 'turn.started' ? { ...event, ...nextOwner } : event));
}

function byHand(epoch: number): Told {
  return { ...compressionStarted(1, { trigger: 'manual' }), admissionId: null, executionGeneration: 1, epoch };
}

function stopNote(id: number): Told {
  return assistantNote('[This turn was stopped before it was answered.]', 16, id);
}

function lostNote(id: number): Told {
  return assistantNote('[The gateway stopped during this turn. Its answer is lost.]', 19, id);
}

function assistantNote(text: string, tokens: number, id: number): Told {
  return appended(1, aMessage({ id, role: 'assistant', kind: 'note', text, tokens, at: now }));
}

function callNote(text: string, tokens: number, toolCallId = 'call-1', offset = 0): Told {
  const result = { role: 'tool', kind: 'tool', toolCallId } as const;
  return appended(1, aMessage({ id: firstNewMessageId + offset, ...result, text, tokens, at: now }));
}
