import { describe, expect, test } from 'vitest';
import { makeNumbering } from '../../../../src/core/use-cases/numbering.ts';
import { aMessage } from '../../../support/builders.ts';
import { numbered } from '../../../support/given.ts';
import { compressionCompleted, created, prompted, queued } from '../../../support/history.ts';

const first = { nextMessageId: 10, nextAdmissionSeq: 5 };

describe('the numbers of a round', () => {
  test('begin where the store has ended', () => {
    expect(makeNumbering(first).begin().next()).toEqual(first);
  });

  test('grow with what a decision has used', () => {
    const run = makeNumbering(first).begin();

    run.use(numbered([created(), queued(1), prompted(1), queued(2)]));

    expect(run.next()).toEqual({ nextMessageId: 11, nextAdmissionSeq: 7 });
  });

  test('count every row that a compression makes', () => {
    const run = makeNumbering(first).begin();
    const carried = (id: number) => ({ fromId: id, message: aMessage({ id }) });

    run.use(numbered([compressionCompleted(1, { head: [carried(1)], tail: [carried(2), carried(3)] })]));

    expect(run.next()).toEqual({ nextMessageId: 14, nextAdmissionSeq: 5 });
  });

  test('are given again when the round came to nothing', () => {
    const numbering = makeNumbering(first);
    numbering.begin().use(numbered([queued(1)]));

    expect(numbering.begin().next()).toEqual(first);
  });

  test('that were kept are never given again, also when their append was refused', () => {
    const numbering = makeNumbering(first);
    const run = numbering.begin();
    run.use(numbered([queued(1), prompted(1)]));
    run.keep();

    expect(numbering.begin().next()).toEqual({ nextMessageId: 11, nextAdmissionSeq: 6 });
  });
});
