import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MemoryLedger } from '../../src/adapters/outbound/memory/memory-ledger.ts';
import { MemoryQueries } from '../../src/adapters/outbound/memory/memory-queries.ts';
import { openInProcessStorage } from '../../src/adapters/outbound/sqlite/in-process-storage.ts';
import type { Ledger } from '../../src/core/ports/ledger.ts';
import type { SessionQueries } from '../../src/core/ports/session-queries.ts';
import { realCore } from './core-under-test.ts';
import { drawHistory } from './history/history.ts';
import type { Disk, JournalEntry, Written } from './ports/disk.ts';
import { runHistory } from './run-history.ts';
import { seedOf } from './world/random.ts';

/* What keeps the simulator honest: the store that it runs on answers and looks as the real one does. */
it.each([1, 2, 3])('SQLite answers as the simulated store did, and has the same rows (seed %i)', async (seed) => {
  for (let index = 0; index < 20; index += 1) {
    const { disk } = await runHistory(drawHistory(seedOf(seed, index)), realCore);
    await compareWithSqlite(disk);
  }
});

async function compareWithSqlite(disk: Disk): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-differential-'));
  const storage = await openInProcessStorage({ home, newStoreId: 'store', synchronous: 'normal' });
  try {
    for (const entry of disk.journal) expect(await answerOf(storage.ledger, entry)).toEqual(entry.written);
    const memory = { ledger: new MemoryLedger(disk.durable), queries: new MemoryQueries(disk.durable) };
    expect(await everything(storage, disk)).toEqual(await everything(memory, disk));
  } finally {
    await storage.close();
    await rm(home, { recursive: true });
  }
}

async function answerOf(ledger: Ledger, { write }: JournalEntry): Promise<Written> {
  if (write.kind === 'append') return { result: await ledger.append(write.request) };
  return { ownership: await ledger.takeOwnership({ instanceId: 'instance', now: '2030-01-01T00:00:00.000Z' }) };
}

/** Whatever a reader can see. */
async function everything(
  { ledger, queries }: { readonly ledger: Ledger; readonly queries: SessionQueries },
  { tables }: Disk,
): Promise<unknown> {
  const limit = 1000;
  const sessions = [...tables.states.keys()].map(async (sessionId) => ({
    state: await ledger.load(sessionId),
    summary: await queries.findSession(sessionId),
    systemPrompt: await queries.systemPrompt(sessionId),
    snapshot: await queries.snapshot({ sessionId, before: null, limit }),
    admissions: await queries.listAdmissions({ sessionId, include: 'all', limit, after: null }),
    events: await queries.events({ sessionId, afterSeq: 0, limit }),
  }));
  const transcripts = [...tables.transcripts.keys()].map(async (transcriptId) => ({
    session: await ledger.sessionOf(transcriptId),
    messages: await ledger.readTranscript(transcriptId, 0),
  }));
  return {
    sessions: await Promise.all(sessions),
    transcripts: await Promise.all(transcripts),
    list: await queries.listSessions({ principalId: 'local', archived: null, limit, before: null }),
    unfinished: await ledger.unfinished(),
    counts: await queries.counts(),
    held: await queries.heldQueues(limit),
    unknown: await queries.unknownAdmissions(limit),
  };
}
