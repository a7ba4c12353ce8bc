import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evolve } from '../../../../../src/core/domain/session/evolve.ts';
import type { SessionState } from '../../../../../src/core/domain/session/state.ts';
import { occupant } from '../../../../../src/core/domain/session/state.ts';
import { aWishList, RandomSession } from './random-session.ts';
import type { Step } from './random-session.ts';

/*
 * Whatever is asked of a session, in whatever order, by one owner after another: these hold after every decision.
 * `decide` gets frozen arguments all the way, so a decider that changes its input fails here too.
 */

const runs = { numRuns: 80 };

function always(check: (life: RandomSession) => void): void {
  fc.assert(
    fc.property(aWishList, (wishes) => {
      check(new RandomSession().live(wishes));
    }),
    runs,
  );
}

const eachStep = (check: (step: Step) => void) => () =>
  always((life) => {
    for (const step of life.steps) check(step);
  });

describe('whatever happens to a session', () => {
  test(
    'at most one admission is started or unknown',
    eachStep(({ after }) => {
      const occupants = after.open.filter(({ status }) => status === 'started' || status === 'unknown');
      expect(occupants.length).toBeLessThanOrEqual(1);
    }),
  );

  test(
    'what is open is sorted by position, and no two share one',
    eachStep(({ after }) => {
      const positions = after.open.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    }),
  );

  test(
    'nothing that is open is terminal',
    eachStep(({ after }) => {
      expect(after.open.filter(({ status }) => status === 'terminal')).toEqual([]);
    }),
  );

  test(
    'the running turn is always before everything that waits',
    eachStep(({ after }) => {
      const turn = occupant(after);
      if (turn !== undefined) expect(after.open[0]).toBe(turn);
    }),
  );

  test('the log is gapless and folds to the state', () => {
    always(({ log, steps }) => {
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
      const last = steps.at(-1)?.after ?? log.reduce<SessionState | null>(evolve, null);
      expect(log.reduce<SessionState | null>(evolve, null)).toEqual(last);
    });
  });

  test(
    'message ids grow along the transcript',
    eachStep(({ after }) => {
      const ids = after.messages.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    }),
  );

  test('an admission that has ended never comes back, and no second one has its input id', () => {
    always(({ steps, log }) => {
      const ended = new Set<string>();
      for (const { before, after } of steps) {
        const open = new Set(after.open.map(({ admissionId }) => admissionId));
        for (const { admissionId } of before.open) if (!open.has(admissionId)) ended.add(admissionId);
        expect([...open].filter((id) => ended.has(id))).toEqual([]);
      }
      const inputIds = log.flatMap((event) => (event.type === 'admission.queued' ? [event.admission.inputId] : []));
      expect(new Set(inputIds).size).toBe(inputIds.length);
    });
  });

  test('every admission has at most one end', () => {
    always(({ log }) => {
      const ends = log.filter(({ type }) => ['turn.settled', 'turn.resolved', 'admission.cancelled'].includes(type));
      const ids = ends.map(({ admissionId }) => admissionId);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  test(
    'once a turn is closed every tool call of the transcript has its result',
    eachStep(({ after }) => {
      if (occupant(after) !== undefined) return;
      const results = after.messages.flatMap(({ toolCallId }) => toolCallId ?? []);
      const calls = after.messages.flatMap(({ toolCallIds }) => toolCallIds);
      expect(results.toSorted()).toEqual(calls.toSorted());
    }),
  );

  test(
    'a call that runs has no result yet, and its turn is running or unknown',
    eachStep(({ after }) => {
      const running = after.runningCalls.map(({ callId }) => callId);
      const results = after.messages.map(({ toolCallId }) => toolCallId);
      expect(running.filter((callId) => results.includes(callId))).toEqual([]);
      if (running.length > 0) expect(occupant(after)?.boundary).toBe('tool');
    }),
  );

  test('no call is started twice or after its turn was asked to stop', () => {
    always(({ log }) => {
      const calls = log.flatMap((event) => (event.type === 'tool.started' ? event.callId : []));
      expect(new Set(calls).size).toBe(calls.length);
      const stopped = new Set<string | null>();
      for (const { type, admissionId } of log) {
        if (type === 'turn.stop_requested') stopped.add(admissionId);
        if (type === 'tool.started') expect(stopped.has(admissionId)).toBe(false);
      }
    });
  });

  test(
    'the generation never falls, and it rises with each claim',
    eachStep(({ before, after, events }) => {
      const claims = events.filter(({ type }) => type === 'turn.started').length;
      expect(after.executionGeneration).toBe(before.executionGeneration + claims);
    }),
  );

  test('a turn that was asked to stop never ends as completed', () => {
    always(({ ended }) => {
      const stopped = [...ended.values()].filter(({ stopRequested }) => stopRequested !== null);
      expect(stopped.filter(({ outcome }) => outcome === 'completed')).toEqual([]);
    });
  });

  test('a turn that may have sent something is never started again', () => {
    always(({ log }) => {
      const sent = new Set<string | null>();
      for (const event of log) {
        if (event.type === 'turn.started') expect(sent.has(event.admissionId)).toBe(false);
        if (event.type === 'message.appended' && event.boundary !== null) sent.add(event.admissionId);
      }
    });
  });

  test(
    'a compression touches no admission but for the number of its prompt’s row',
    eachStep(({ command, before, after }) => {
      if (command.kind !== 'rotate') return;
      const withoutRow = (state: SessionState) => state.open.map((a) => ({ ...a, promptMessageId: null }));
      expect(withoutRow(after)).toEqual(withoutRow(before));
    }),
  );

  test(
    'only a rotation moves the tip, and the root stays the session',
    eachStep(({ command, before, after }) => {
      expect(after.lineage.rootId).toBe(before.sessionId);
      if (command.kind !== 'rotate') expect(after.lineage.tipId).toBe(before.lineage.tipId);
      expect(after.lineage.length - before.lineage.length).toBe(after.lineage.tipId === before.lineage.tipId ? 0 : 1);
    }),
  );

  test('a prompt stays the same admission for ever: the same id always gets the same one', () => {
    always(({ log, ended, steps }) => {
      const first = new Map(
        log.flatMap((event) =>
          event.type === 'admission.queued' ? [[event.admission.admissionId, event.admission] as const] : [],
        ),
      );
      const open = steps.at(-1)?.after.open ?? [];
      for (const admission of [...ended.values(), ...open]) {
        const { seq, inputId, requestDigest, position } = admission;
        expect({ seq, inputId, requestDigest, position }).toEqual({
          seq: first.get(admission.admissionId)?.seq,
          inputId: first.get(admission.admissionId)?.inputId,
          requestDigest: first.get(admission.admissionId)?.requestDigest,
          position: first.get(admission.admissionId)?.position,
        });
      }
    });
  });
});

test('a steer waits only while the turn that it is meant for runs', () => {
  fc.assert(
    fc.property(aWishList, (wishes) => {
      for (const { after } of new RandomSession().live(wishes).steps) {
        const steers = after.open.filter(({ delivery }) => delivery === 'steer');
        const turn = after.open.find(({ status }) => status === 'started');
        for (const { steers: target } of steers) expect(target?.generation).toBe(turn?.executionGeneration);
      }
    }),
    runs,
  );
});

test('random lives get everywhere: every kind of event happens in them', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(aWishList, (wishes) => {
      for (const { type } of new RandomSession().live(wishes).log) seen.add(type);
    }),
    { ...runs, numRuns: 1000, seed: 1 },
  );

  expect([...seen].sort()).toEqual(
    [
      'session.created',
      'session.held',
      'session.released',
      'admission.queued',
      'admission.cancelled',
      'admission.requeued',
      'turn.started',
      'message.appended',
      'tool.started',
      'tool.finished',
      'approval.requested',
      'approval.resolved',
      'admission.merged',
      'turn.stop_requested',
      'turn.settled',
      'turn.lost',
      'turn.resolved',
      'compression.started',
      'compression.completed',
      'compression.failed',
    ].sort(),
  );
});
