import type { CompressionResult, SessionEvent } from '../../../core/domain/session/events.ts';
import { charactersOf, charactersOfPayload } from '../../../core/domain/transcript/content-page.ts';
import { maxListedCompressions } from '../../../core/ports/session-queries.ts';
import type { CompressionRecord, HistoryEntry, Lineage } from '../../../core/ports/session-queries.ts';
import type { MemoryStore } from './memory-store.ts';

/** What a border of a compression says of it. */
function resultOf(
  event: Extract<SessionEvent, { type: 'compression.completed' }>,
): Omit<CompressionResult, 'summary' | 'head' | 'tail' | 'retired' | 'opensBreaker'> {
  const { compressionId, trigger, parentTranscript, childTranscript } = event;
  const { tokensBefore, tokensAfter, model, usage } = event;
  return { compressionId, trigger, parentTranscript, childTranscript, tokensBefore, tokensAfter, model, usage };
}

/** What an event is in the history, or null where it is nothing there. */
export function entryFrom(store: MemoryStore, event: SessionEvent): HistoryEntry | null {
  const { seq, at } = event;
  if (event.type === 'message.appended') {
    const row = store.messageRow(event.message.id);
    if (row === null) return null;
    const { transcriptId, active, message } = row;
    return { kind: 'message', seq, at, transcriptId, active, message };
  }
  if (event.type === 'compression.completed') {
    const summary = store.message(event.summary.id);
    return summary === null ? null : { kind: 'compression', seq, at, compression: resultOf(event), summary };
  }
  if (!endsAdmission.has(event.type)) return null;
  const admission = store.findAdmission(event.sessionId, { admissionId: event.admissionId ?? '' });
  if (admission === null || admission.promptMessageId !== null) return null;
  const content = store.payload(admission.admissionId)?.payload ?? null;
  return { kind: 'prompt', seq, at, admission, content };
}

export function sizeOf(entry: HistoryEntry): number {
  if (entry.kind === 'prompt') return charactersOfPayload(entry.content);
  return charactersOf(entry.kind === 'message' ? entry.message : entry.summary);
}

const endsAdmission: ReadonlySet<SessionEvent['type']> = new Set<SessionEvent['type']>([
  'admission.cancelled',
  'turn.settled',
  'turn.resolved',
]);

/** The chain of transcripts, and the compressions as their events tell of them. */
export function lineageFrom(store: MemoryStore, sessionId: string): Lineage {
  const records = new Map<string, CompressionRecord>();
  let tip = sessionId;
  for (const event of store.events(sessionId)) {
    if (event.type === 'compression.started') records.set(event.compressionId, begun(event, tip));
    if (event.type === 'compression.completed') {
      tip = event.childTranscript;
      const { childTranscript, tokensBefore, tokensAfter, model, usage, at: endedAt } = event;
      const end = { status: 'completed', childTranscript, tokensBefore, tokensAfter, model, usage, endedAt } as const;
      change(records, event.compressionId, end);
    }
    if (event.type === 'compression.failed') {
      const { failure, usage, at: endedAt } = event;
      change(records, event.compressionId, { status: 'failed', failure, usage, endedAt });
    }
  }
  const transcripts = store.transcriptsOf(sessionId).map(({ id, parentId, startedAt, endedAt, endReason }) => ({
    id,
    parentId,
    startedAt,
    endedAt,
    endReason,
    messageCount: store.activeMessages(id).length,
  }));
  return { transcripts, compressions: [...records.values()].slice(-maxListedCompressions) };
}

function begun(event: Extract<SessionEvent, { type: 'compression.started' }>, tip: string): CompressionRecord {
  return {
    compressionId: event.compressionId,
    trigger: event.trigger,
    status: 'started',
    parentTranscript: tip,
    childTranscript: null,
    admissionId: event.admissionId,
    tokensBefore: event.tokensBefore,
    tokensAfter: null,
    model: null,
    usage: null,
    failure: null,
    startedAt: event.at,
    endedAt: null,
  };
}

function change(records: Map<string, CompressionRecord>, id: string, change: Partial<CompressionRecord>): void {
  const record = records.get(id);
  if (record !== undefined) records.set(id, { ...record, ...change });
}
