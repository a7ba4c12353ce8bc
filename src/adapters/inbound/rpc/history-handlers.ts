import { parseSearch, snippetOf } from '../../../core/domain/search/terms.ts';
import { beginningOf } from '../../../core/domain/transcript/cut-text.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import type { CompressionRecord, HistoryEntry, SearchHit } from '../../../core/ports/session-queries.ts';
import type { WireHistoryEntry } from '../../../protocol/history.ts';
import { maxShownTextBytes } from '../../../protocol/limits.ts';
import type { WireMessage } from '../../../protocol/message.ts';
import type { ParsedParamsOf, ResultOf } from '../../../protocol/registry.ts';
import { failed, result } from './answer.ts';
import type { Answer } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { Handlers } from './handler.ts';
import { messageToWire, promptToWire } from './message-to-wire.ts';
import { failureToWire, usageToWire } from './receipt-to-wire.ts';
import { TextBudget } from './shown-text.ts';

/* A page is one frame. Its texts are cut, so this is about the size that they have on the wire. */
const maxPageBytes = 2 * 1024 * 1024;
const maxSnippetCharacters = 300;
/** In UTF-16 units: as JSON at most six times as many bytes, and so less than a frame. */
const maxPieceCharacters = 512 * 1024;

type HistoryHandlers = Pick<
  Handlers,
  'session.history' | 'session.content' | 'session.lineage' | 'session.search' | 'session.export'
>;

/** What was said in a session, over all its transcripts. */
export function makeHistoryHandlers(deps: RpcDependencies): HistoryHandlers {
  const { queries } = deps;
  return {
    'session.history': async ({ session_id, before, after, limit }) => {
      const range = { before: numberFrom(before), after: numberFrom(after) };
      if (Number.isNaN(range.before)) return badCursor('before');
      if (Number.isNaN(range.after)) return badCursor('after');
      if ((await queries.findSession(session_id)) === null) return noSuch('session');
      const page = await queries.history({ sessionId: session_id, ...range, limit });
      const isForward = range.after !== null;
      const entries = thatFit(page.entries.map(entryToWire), isForward);
      const more = page.more || entries.length < page.entries.length;
      // Behind the end there is nothing, and everything is older.
      const first = entries[0]?.seq ?? (range.after === null ? null : range.after + 1);
      const hasOlder = isForward ? range.after !== 0 : more;
      return result({
        session_id,
        entries,
        older_cursor: hasOlder && first !== null ? String(first) : null,
        newer_cursor: String(entries.at(-1)?.seq ?? range.after ?? Math.max(0, (range.before ?? 1) - 1)),
        at_end: isForward ? !more : range.before === null,
      });
    },

    'session.content': async (params) => {
      const text = await contentOf(params);
      if (typeof text !== 'string') return noSuch(params.message_id === undefined ? 'admission' : 'message');
      const { offset } = params;
      const piece = beginningOf(text.slice(offset), maxPieceCharacters);
      const end = offset + piece.length;
      return result({ text: piece, offset, next_offset: end < text.length ? end : null, length: text.length });
    },

    'session.lineage': async ({ session_id }) => {
      const summary = await queries.findSession(session_id);
      if (summary === null) return noSuch('session');
      const { transcripts, compressions } = await queries.lineage(session_id);
      return result({
        session_id,
        stored_session_id: summary.tipId,
        transcripts: transcripts.map((transcript) => ({
          id: transcript.id,
          parent_id: transcript.parentId,
          started_at: transcript.startedAt,
          ended_at: transcript.endedAt,
          end_reason: transcript.endReason,
          message_count: transcript.messageCount,
        })),
        compressions: compressions.map(compressionToWire),
      });
    },

    'session.search': async ({ query, session_id, limit, cursor }, { principal }) => {
      const before = numberFrom(cursor);
      if (Number.isNaN(before)) return badCursor('cursor');
      if (session_id !== undefined && (await queries.findSession(session_id)) === null) return noSuch('session');
      const terms = parseSearch(query);
      const page = await queries.search({
        principalId: principal.principalId,
        sessionId: session_id ?? null,
        terms,
        before,
        limit,
      });
      return result({
        hits: page.hits.map((hit) => hitToWire(hit, terms)),
        next_cursor: page.next === null ? null : String(page.next),
        behind: page.behind,
      });
    },

    'session.export': async ({ session_id, format, cursor }) => {
      const piece = await deps.exportSession({ sessionId: session_id, format, cursor: cursor ?? null });
      if (piece === 'no_session') return noSuch('session');
      if (piece === 'bad_cursor') return badCursor('cursor');
      return result({ session_id, text: piece.text, next_cursor: piece.next });
    },
  };

  async function contentOf(params: ParsedParamsOf<'session.content'>): Promise<string | undefined> {
    const { session_id: sessionId, message_id: messageId, admission_id: admissionId, tool_call, part } = params;
    if (messageId === undefined) {
      const prompt = await deps.readPrompt(sessionId, admissionId ?? '');
      return prompt === undefined ? undefined : partOf(prompt, part);
    }
    const [message] = await queries.messages({ sessionId, ids: [messageId] });
    return message === undefined ? undefined : textIn(message, tool_call, part);
  }
}

function textIn(message: Message, toolCall: number | undefined, part: number | undefined): string | undefined {
  if (toolCall !== undefined) return message.toolCalls[toolCall]?.arguments;
  return partOf(message, part);
}

/** The text of a message or a prompt, or of one of its parts. */
function partOf({ text, parts }: Pick<Message, 'text' | 'parts'>, part: number | undefined): string | undefined {
  if (part === undefined) return text;
  const found = parts?.[part];
  return found === undefined || !('data' in found) ? found?.text : found.data;
}

/** A cursor as a number; null where there is none, NaN where it is not a cursor. */
function numberFrom(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : Number.NaN;
}

function badCursor(path: string): Answer<never> {
  return failed('invalid_params', { fields: [{ path, message: 'is not the cursor of a page' }] });
}

function noSuch(what: 'session' | 'admission' | 'message'): Answer<never> {
  return failed('not_found', { what, message: `There is no such ${what}.` });
}

/** The entries that fit a frame, from where the page was read; at least one. */
function thatFit(entries: readonly WireHistoryEntry[], isForward: boolean): WireHistoryEntry[] {
  let bytes = 0;
  const fitting: WireHistoryEntry[] = [];
  for (const entry of isForward ? entries : entries.toReversed()) {
    bytes += 500 + sizeOf(entry);
    if (fitting.length > 0 && bytes > maxPageBytes) break;
    fitting.push(entry);
  }
  return isForward ? fitting : fitting.reverse();
}

function sizeOf(entry: WireHistoryEntry): number {
  if (entry.type === 'prompt') return textSize(entry);
  const message = entry.type === 'message' ? entry.message : entry.summary;
  const { tool_calls = [] } = message;
  return tool_calls.reduce((sum, call) => sum + call.arguments.length, textSize(message));
}

function textSize({ text, parts = [] }: Pick<WireMessage, 'text' | 'parts'>): number {
  return parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), text.length);
}

function entryToWire(entry: HistoryEntry): WireHistoryEntry {
  const { seq, at } = entry;
  switch (entry.kind) {
    case 'message': {
      const message = messageToWire(entry.message, maxShownTextBytes);
      return { type: 'message', seq, at, transcript: entry.transcriptId, active: entry.active, message };
    }
    case 'prompt': {
      const { admissionId, inputId, outcome } = entry.admission;
      const budget = new TextBudget(maxShownTextBytes, 3 * maxShownTextBytes);
      const shown = promptToWire(entry.content ?? { text: '', parts: null }, budget);
      return { type: 'prompt', seq, at, admission_id: admissionId, input_id: inputId, outcome, ...shown };
    }
    case 'compression': {
      const { compression } = entry;
      return {
        type: 'compression',
        seq,
        at,
        compression_id: compression.compressionId,
        trigger: compression.trigger,
        parent_transcript: compression.parentTranscript,
        child_transcript: compression.childTranscript,
        tokens_before: compression.tokensBefore,
        tokens_after: compression.tokensAfter,
        model: compression.model,
        summary: messageToWire(entry.summary, maxShownTextBytes),
      };
    }
  }
}

function compressionToWire(record: CompressionRecord): ResultOf<'session.lineage'>['compressions'][number] {
  return {
    compression_id: record.compressionId,
    trigger: record.trigger,
    status: record.status,
    parent_transcript: record.parentTranscript,
    child_transcript: record.childTranscript,
    admission_id: record.admissionId,
    tokens_before: record.tokensBefore,
    tokens_after: record.tokensAfter,
    model: record.model,
    ...(record.usage === null ? {} : { usage: usageToWire(record.usage) }),
    ...(record.failure === null ? {} : { failure: failureToWire(record.failure) }),
    started_at: record.startedAt,
    ended_at: record.endedAt,
  };
}

function hitToWire(hit: SearchHit, terms: ReturnType<typeof parseSearch>): ResultOf<'session.search'>['hits'][number] {
  const { message } = hit;
  const snippet = snippetOf(message.text, terms, maxSnippetCharacters);
  return {
    session_id: hit.sessionId,
    title: hit.title,
    transcript: hit.transcriptId,
    message_id: message.id,
    role: message.role,
    kind: message.kind,
    admission_id: message.admissionId,
    snippet: snippet.text,
    ...(snippet.cut ? { truncated: true as const } : {}),
    at: message.at,
  };
}
