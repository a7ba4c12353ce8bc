import { MemoryLedger } from '../../src/adapters/outbound/memory/memory-ledger.ts';
import { MemoryQueries } from '../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../src/adapters/outbound/memory/memory-store.ts';
import { describeLedgerContract } from './ledger-contract.ts';
import type { LedgerHarness, OpenedLedger } from './ledger-contract.ts';

describeLedgerContract('memory', async (): Promise<LedgerHarness> => {
  const store = new MemoryStore('store-1');
  const open = (): OpenedLedger => ({ ledger: new MemoryLedger(store), queries: new MemoryQueries(store) });
  return { ...open(), reopen: async () => open(), close: async () => undefined };
});
