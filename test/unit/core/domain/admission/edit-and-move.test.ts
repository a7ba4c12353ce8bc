import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { positionGap } from '../../../../../src/core/domain/admission/admission.ts';
import { receiptOf } from '../../../../../src/core/domain/admission/receipt.ts';
import { decide } from '../../../../../src/core/domain/session/decide.ts';
import type { SessionState } from '../../../../../src/core/domain/session/state.ts';
import { aPayload, aSessionId } from '../../../../support/builders.ts';
import * as commands from '../../../../support/commands.ts';
import { aContext, given, stateAfter } from '../../../../support/given.ts';
import { created, queued, started } from '../../../../support/history.ts';

const inputIds = (state: SessionState): readonly string[] => state.open.map(({ inputId }) => inputId);

describe('an edit', () => {
  test('gives a prompt that waits other content and keeps its identity', () => {
    const { after } = given(created(), queued(1)).when(commands.edit(1));

    expect(after.open[0]).toMatchObject({
      requestDigest: 'digest-of-request-1',
      payloadDigest: 'digest-of-another-payload',
      revision: 2,
    });
  });

  test('to the content that it has already changes nothing', () => {
    const command = commands.edit(1, { payload: aPayload(), payloadDigest: 'digest-of-payload-1' });
    given(created(), queued(1)).when(command).thenNothing();
  });

  test('of a prompt that has started, or has changed since, is refused', () => {
    const running = given(created(), queued(1), started(1));
    const [admission] = running.state.open;
    if (admission === undefined) throw new Error('It runs');
    running
      .when(commands.edit(1))
      .thenRefused({ reason: 'not_queued', receipt: receiptOf(running.state, admission, false) });

    const waiting = given(created(), queued(1));
    const [fresh] = waiting.state.open;
    if (fresh === undefined) throw new Error('It waits');
    waiting
      .when(commands.edit(1, { revision: 7 }))
      .thenRefused({ reason: 'revision_conflict', revision: 1, receipt: receiptOf(waiting.state, fresh, false) });
  });
});

describe('a move', () => {
  const three = [created(), queued(1), queued(2), queued(3)];

  test.each([
    [3, 'first', ['input-3', 'input-1', 'input-2']],
    [1, 'last', ['input-2', 'input-3', 'input-1']],
    [3, { before: { admissionId: 'admission-2' } }, ['input-1', 'input-3', 'input-2']],
    [1, 'first', ['input-1', 'input-2', 'input-3']],
  ] as const)('of prompt %i to %j', (n, to, order) => {
    expect(inputIds(given(...three).when(commands.move(n, to)).after)).toEqual(order);
  });

  test('never overtakes the turn that runs', () => {
    const { after } = given(...three, started(1)).when(commands.move(3, 'first'));
    expect(inputIds(after)).toEqual(['input-1', 'input-3', 'input-2']);
  });

  test('before a prompt that does not wait finds nothing', () => {
    const to = { before: { admissionId: 'admission-1' } };
    given(...three, started(1))
      .when(commands.move(3, to))
      .thenRefused({ reason: 'not_found', what: 'admission' });
  });

  test('keeps its place before everything that is submitted later, in any order of moves', () => {
    const places = fc.oneof(fc.constant('first'), fc.constant('last'), fc.nat(5));
    const move = fc.record({ n: fc.nat(5), to: places });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 120, size: 'max' }), fc.boolean(), (moves, running) => {
        let state = stateAfter(
          created(),
          ...[1, 2, 3, 4, 5, 6].map((seq) => queued(seq)),
          ...(running ? [started(1)] : []),
        );
        let order = [...inputIds(state)];
        for (const { n, to } of moves) {
          const neighbour = typeof to === 'number' ? `admission-${String(to + 1)}` : null;
          const place = neighbour === null ? (to as 'first' | 'last') : { before: { admissionId: neighbour } };
          const decision = decide(aSessionId, state, commands.move(n + 1, place), aContext());
          if (decision.kind !== 'accepted') continue;
          state = decision.state;
          order = moved(order, `input-${String(n + 1)}`, to, running);
          expect(inputIds(state)).toEqual(order);
          expect(state.open.every(({ position }) => position < aContext().nextAdmissionSeq * positionGap)).toBe(true);
        }
      }),
    );
  });

  test('keeps its place before what is submitted after a restart, whose numbers may begin again lower', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2), { minLength: 1 }), fc.integer({ min: 4, max: 99 }), (moves, nextAdmissionSeq) => {
        let state = stateAfter(created(), ...[1, 2, 3].map((seq) => queued(seq)));
        for (const n of moves) {
          const decision = decide(aSessionId, state, commands.move(n + 1, 'last'), aContext({ nextAdmissionSeq }));
          if (decision.kind === 'accepted') state = decision.state;
        }
        const before = inputIds(state);
        const submitted = decide(aSessionId, state, commands.submit(4), aContext({ nextAdmissionSeq: 4 }));
        expect(submitted.kind === 'accepted' && inputIds(submitted.state)).toEqual([...before, 'input-4']);
      }),
    );
  });
});

/** The order as a plain list would have it. */
function moved(order: readonly string[], what: string, to: string | number, running: boolean): string[] {
  const rest = order.filter((inputId) => inputId !== what);
  const first = running ? 1 : 0;
  const index = to === 'first' ? first : to === 'last' ? rest.length : rest.indexOf(`input-${String(Number(to) + 1)}`);
  return rest.toSpliced(index < 0 ? order.indexOf(what) : index, 0, what);
}
