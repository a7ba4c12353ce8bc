import { describe } from 'vitest';
import { describeAdmissions } from './ledger/admissions.ts';
import { describeApprovals } from './ledger/approvals.ts';
import { describeAppends } from './ledger/appends.ts';
import type { MakeLedgerHarness } from './ledger/harness.ts';
import { describeHistories } from './ledger/histories.ts';
import { describeHistory } from './ledger/history.ts';
import { describeLife } from './ledger/life.ts';
import { describeLists } from './ledger/lists.ts';
import { describeOwnership } from './ledger/ownership.ts';
import { describePageSizes } from './ledger/page-sizes.ts';
import { describePast } from './ledger/past.ts';
import { describeRaces } from './ledger/races.ts';
import { describeToolCalls } from './ledger/tool-calls.ts';
import { describeTranscripts } from './ledger/transcripts.ts';
import { describeUnfinished } from './ledger/unfinished.ts';

export type { LedgerHarness, MakeLedgerHarness, OpenedLedger } from './ledger/harness.ts';

/**
 * Every promise of `core/ports/ledger.ts` and `core/ports/session-queries.ts`, for any adapter. `makeHarness` is called
 * for each test, and several times in the tests of histories; it opens an empty store.
 */
export function describeLedgerContract(name: string, makeHarness: MakeLedgerHarness): void {
  describe(`the ledger in ${name}`, () => {
    describeOwnership(makeHarness);
    describeAppends(makeHarness);
    describeRaces(makeHarness);
    describeAdmissions(makeHarness);
    describeTranscripts(makeHarness);
    describeToolCalls(makeHarness);
    describeApprovals(makeHarness);
    describeUnfinished(makeHarness);
    describeLists(makeHarness);
    describeLife(makeHarness);
    describeHistory(makeHarness);
    describePast(makeHarness);
    describePageSizes(makeHarness);
    describeHistories(makeHarness);
  });
}
