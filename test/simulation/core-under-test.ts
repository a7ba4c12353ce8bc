import { emptyTables } from '../../src/adapters/outbound/memory/memory-tables.ts';
import { MemoryEventHub } from '../../src/adapters/outbound/memory/memory-event-hub.ts';
import { MemoryQueries } from '../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../src/adapters/outbound/memory/memory-store.ts';
import { StorageError } from '../../src/core/ports/ledger.ts';
import { makeCreateSession } from '../../src/core/use-cases/create-session.ts';
import { makeEditPrompt } from '../../src/core/use-cases/edit-prompt.ts';
import { makeForkSession } from '../../src/core/use-cases/fork-session.ts';
import { makeGateway } from '../../src/core/use-cases/gateway.ts';
import { makeRespondApproval } from '../../src/core/use-cases/respond-approval.ts';
import { makeSteerPrompt } from '../../src/core/use-cases/steer-prompt.ts';
import { makeSubmitPrompt } from '../../src/core/use-cases/submit-prompt.ts';
import { makeSubscribe } from '../../src/core/use-cases/subscribe.ts';

/** The program that a history runs: the real one, or a copy with a planted fault. */
export interface CoreUnderTest {
  readonly makeGateway: typeof makeGateway;
  readonly makeCreateSession: typeof makeCreateSession;
  readonly makeSubmitPrompt: typeof makeSubmitPrompt;
  readonly makeSteerPrompt: typeof makeSteerPrompt;
  readonly makeEditPrompt: typeof makeEditPrompt;
  readonly makeForkSession: typeof makeForkSession;
  readonly makeRespondApproval: typeof makeRespondApproval;
  readonly makeSubscribe: typeof makeSubscribe;
  readonly StorageError: typeof StorageError;
  readonly MemoryStore: typeof MemoryStore;
  readonly emptyTables: typeof emptyTables;
  readonly MemoryQueries: typeof MemoryQueries;
  readonly MemoryEventHub: typeof MemoryEventHub;
}

export const realCore: CoreUnderTest = {
  makeGateway,
  makeCreateSession,
  makeSubmitPrompt,
  makeSteerPrompt,
  makeEditPrompt,
  makeForkSession,
  makeRespondApproval,
  makeSubscribe,
  StorageError,
  MemoryStore,
  emptyTables,
  MemoryQueries,
  MemoryEventHub,
};
