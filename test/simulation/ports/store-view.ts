import type { MemoryTables } from '../../../src/adapters/outbound/memory/memory-tables.ts';
import type { SessionRow, StoreView } from '../judge/rows.ts';

/** Shows the judge the rows of the memory store, as a reader of the tables would see them. */
export function viewOf(tables: MemoryTables): StoreView {
  return {
    epoch: () => tables.counters.get('epoch') ?? 0,
    sessionIds: () => tables.states.keys(),
    session: (sessionId) => sessionRow(tables, sessionId),
    admissions: (sessionId) => tables.admissions.get(sessionId) ?? new Map(),
    transcripts: (sessionId) => [...tables.transcripts.values()].filter((row) => row.sessionId === sessionId),
    approvals: (sessionId) => [...tables.approvals.values()].filter((row) => row.sessionId === sessionId),
    messages: (transcriptId) => tables.messages.get(transcriptId) ?? new Map(),
    events: (sessionId) => tables.events.get(sessionId) ?? [],
    prompt: (admissionId) => tables.payloads.get(admissionId)?.payload.text ?? null,
  };
}

function sessionRow(tables: MemoryTables, sessionId: string): SessionRow | null {
  const state = tables.states.get(sessionId);
  if (state === undefined) return null;
  return {
    seq: state.seq,
    revision: state.revision,
    executionGeneration: state.executionGeneration,
    held: state.hold !== null,
    heldUntil: state.hold?.until ?? null,
    tipId: state.lineage.tipId,
    title: state.profile.title,
    model: state.profile.model,
    archived: state.archived,
    pinned: state.pinned,
    deleted: state.deletedAt !== null,
    openCompression: state.lineage.open,
  };
}
