import { afterEach, beforeEach } from 'vitest';
import type { Ledger } from '../../../src/core/ports/ledger.ts';
import type { SessionQueries } from '../../../src/core/ports/session-queries.ts';

/** A ledger with the reads on the same store. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  readonly queries: SessionQueries;
}

/** An adapter over a store of its own, fresh and empty. */
export interface LedgerHarness extends OpenedLedger {
  /**
   * A new ledger over the same store, as the next process would open it. The ledgers that were opened before stay
   * usable, so that a superseded owner can be heard.
   */
  reopen(): Promise<OpenedLedger>;
  /** Closes everything that was opened, and removes the store. */
  close(): Promise<void>;
}

export type MakeLedgerHarness = () => Promise<LedgerHarness>;

/** Gives each test of a suite a harness of its own. */
export function useHarness(makeHarness: MakeLedgerHarness): LedgerHarness {
  let current: LedgerHarness | undefined;
  const opened = (): LedgerHarness => {
    if (current === undefined) throw new Error('The harness is only there while a test runs');
    return current;
  };
  beforeEach(async () => {
    current = await makeHarness();
  });
  afterEach(async () => {
    await current?.close();
    current = undefined;
  });
  return {
    get ledger() {
      return opened().ledger;
    },
    get queries() {
      return opened().queries;
    },
    reopen: () => opened().reopen(),
    close: () => opened().close(),
  };
}
