/*
 * A session as a document, piece by piece. Its border: it knows how a document looks, and nothing of files or sockets.
 *
 * E1: the document is of the session at the first piece: later events don't get in.
 * E2: a piece is bounded, however large a message is, and the pieces in order are the document.
 * E3: every text goes through the mask for secrets before it is cut, so that no secret hides in a border.
 */
import { beginningOf } from '../domain/transcript/cut-text.ts';
import type { Message } from '../domain/transcript/message.ts';
import type { HistoryEntry, SessionQueries, SessionSummary } from '../ports/session-queries.ts';

type ExportFormat = 'json' | 'markdown';

/** Null for a session that doesn't exist, and for a cursor that is none. */
export type ExportSession = (input: {
  readonly sessionId: string;
  readonly format: ExportFormat;
  readonly cursor: string | null;
}) => Promise<ExportPiece | 'no_session' | 'bad_cursor'>;

interface ExportPiece {
  readonly text: string;
  readonly next: string | null;
}

/** Of one piece, in UTF-16 units: as JSON in a frame it is at most six times as many bytes. */
const maxPieceCharacters = 512 * 1024;
const pageSize = 100;

interface Place {
  /** The newest event that is part of the document. */
  readonly lastSeq: number;
  /** Everything up to this event is done; 0: the head of the document comes first. */
  readonly afterSeq: number;
  /** Characters of the next entry that are done. */
  readonly offset: number;
  /** Whether that entry was part of its transcript when it was begun: its text says so, and has to stay what it was. */
  readonly active: boolean;
  readonly begun: boolean;
}

export function makeExportSession(deps: {
  readonly queries: SessionQueries;
  readonly maskSecrets: (text: string) => string;
}): ExportSession {
  return async ({ sessionId, format, cursor }) => {
    const summary = await deps.queries.findSession(sessionId);
    if (summary === null) return 'no_session';
    const start: Place = { lastSeq: summary.lastSeq, afterSeq: 0, offset: 0, active: false, begun: false };
    const place = cursor === null ? start : placeFrom(cursor);
    if (place === null) return 'bad_cursor';
    const form = forms[format];
    const mask = deps.maskSecrets;
    let text = place.begun ? '' : form.head(summary, await deps.queries.systemPrompt(sessionId), mask);
    const { entries, more } = await deps.queries.history({
      sessionId,
      before: null,
      after: place.afterSeq,
      limit: pageSize,
    });
    let { afterSeq, offset } = place;
    for (const stored of entries) {
      if (stored.seq > place.lastSeq) break;
      const entry = offset === 0 ? stored : asBegun(stored, place.active);
      const whole = form.entry(entry, afterSeq === 0, mask);
      const rest = whole.slice(offset);
      const room = Math.max(0, maxPieceCharacters - text.length);
      if (rest.length > room) {
        const piece = beginningOf(rest, room);
        const active = entry.kind === 'message' && entry.active;
        const next = cursorOf({ ...place, afterSeq, offset: offset + piece.length, active });
        return { text: text + piece, next };
      }
      text += rest;
      afterSeq = entry.seq;
      offset = 0;
    }
    const isDone = !more || afterSeq >= place.lastSeq || (entries.at(-1)?.seq ?? Infinity) > place.lastSeq;
    if (isDone) return { text: text + form.foot, next: null };
    return { text, next: cursorOf({ ...place, afterSeq, offset }) };
  };
}

function asBegun(entry: HistoryEntry, active: boolean): HistoryEntry {
  return entry.kind === 'message' ? { ...entry, active } : entry;
}

function cursorOf({ lastSeq, afterSeq, offset, active }: Omit<Place, 'begun'>): string {
  return [lastSeq, afterSeq, offset, Number(active)].join('.');
}

function placeFrom(cursor: string): Place | null {
  if (!/^\d{1,15}\.\d{1,15}\.\d{1,15}\.[01]$/.test(cursor)) return null;
  const [lastSeq = 0, afterSeq = 0, offset = 0, active = 0] = cursor.split('.').map(Number);
  return { lastSeq, afterSeq, offset, active: active === 1, begun: true };
}

type Mask = (text: string) => string;

interface Form {
  head(summary: SessionSummary, systemPrompt: string | null, mask: Mask): string;
  entry(entry: HistoryEntry, isFirst: boolean, mask: Mask): string;
  readonly foot: string;
}

const json: Form = {
  head: (summary, systemPrompt, mask) =>
    `{"format":"holdfast.session.v1","session":${masked(sessionFields(summary, systemPrompt), mask)},"entries":[`,
  entry: (entry, isFirst, mask) => `${isFirst ? '' : ','}\n${masked(entryFields(entry), mask)}`,
  foot: '\n]}\n',
};

/** Text by text, before they are JSON: what is taken out of JSON itself may take half of an escape with it. */
function masked(fields: object, mask: Mask): string {
  return JSON.stringify(fields, (_key, value: unknown) => (typeof value === 'string' ? mask(value) : value));
}

const markdown: Form = {
  head: (summary, _systemPrompt, mask) => {
    const { profile, sessionId } = summary;
    const facts = [
      `Session \`${sessionId}\``,
      `begun ${profile.startedAt}`,
      `model ${profile.provider}/${profile.model}`,
    ];
    return mask(`# ${oneLine(profile.title ?? 'Untitled session')}\n\n${facts.join(', ')}.\n`);
  },
  entry: (entry, _isFirst, mask) => mask(markdownEntry(entry)),
  foot: '',
};

const forms: Readonly<Record<ExportFormat, Form>> = { json, markdown };

function markdownEntry(entry: HistoryEntry): string {
  switch (entry.kind) {
    case 'message':
      return messageSection(entry.message, entry.active ? '' : ', no longer in the transcript');
    case 'prompt': {
      const outcome = entry.admission.outcome ?? entry.admission.status;
      return section(`user (${outcome}, never sent)`, entry.at, entry.content?.text ?? '');
    }
    case 'compression': {
      const { tokensBefore, tokensAfter } = entry.compression;
      const line = `*Compressed here, from ${String(tokensBefore)} to ${String(tokensAfter)} tokens.*`;
      return `\n---\n\n${line}\n${messageSection(entry.summary, '')}\n---\n`;
    }
  }
}

function messageSection(message: Message, remark: string): string {
  const title = `${message.kind === 'prompt' ? 'user' : message.kind}${message.partial ? ' (unfinished)' : ''}${remark}`;
  const parts = (message.parts ?? []).flatMap((part) => {
    if (part.type === 'image') return [`*An image (${part.mediaType}).*`];
    if (part.type === 'file') return [`*A file (${part.name ?? part.mediaType}).*`];
    return part.type === 'reasoning' ? [part.text.replaceAll(/^/gm, '> ')] : [];
  });
  const calls = message.toolCalls.map((call) => fenced(`${call.name} ${call.arguments}`));
  const body = message.kind === 'tool' ? fenced(message.text) : message.text;
  return section(title, message.at, [...parts, body, ...calls].filter((text) => text !== '').join('\n\n'));
}

function section(title: string, at: string, body: string): string {
  return `\n## ${title}, ${at}\n\n${body}\n`;
}

/** A fence longer than any in the text, so that nothing in it ends it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** Only listed fields leave: nothing of a principal, a digest or an address. */
function sessionFields(summary: SessionSummary, systemPrompt: string | null): object {
  const { sessionId, tipId, profile, transcripts, compressions } = summary;
  const { title, source, provider, model, cwd, toolsets, forkedFrom, startedAt } = profile;
  return {
    session_id: sessionId,
    stored_session_id: tipId,
    title,
    source,
    provider,
    model,
    cwd,
    system_prompt: systemPrompt,
    toolsets,
    forked_from: forkedFrom === null ? null : { session_id: forkedFrom.sessionId, message_id: forkedFrom.messageId },
    created_at: startedAt,
    transcripts,
    compressions,
  };
}

function entryFields(entry: HistoryEntry): object {
  const { seq, at } = entry;
  switch (entry.kind) {
    case 'message':
      return {
        type: 'message',
        seq,
        transcript: entry.transcriptId,
        active: entry.active,
        ...messageFields(entry.message),
      };
    case 'prompt': {
      const { admissionId, inputId, outcome } = entry.admission;
      const text = entry.content?.text ?? null;
      return { type: 'prompt', seq, at, admission_id: admissionId, input_id: inputId, outcome, text };
    }
    case 'compression': {
      const { compressionId, trigger, parentTranscript, childTranscript, tokensBefore, tokensAfter } =
        entry.compression;
      return {
        type: 'compression',
        seq,
        at,
        compression_id: compressionId,
        trigger,
        parent_transcript: parentTranscript,
        child_transcript: childTranscript,
        tokens_before: tokensBefore,
        tokens_after: tokensAfter,
        summary: messageFields(entry.summary),
      };
    }
  }
}

function messageFields(message: Message): object {
  return {
    id: message.id,
    role: message.role,
    kind: message.kind,
    at: message.at,
    text: message.text,
    ...(message.parts === null ? {} : { parts: message.parts.map(({ type, ...part }) => ({ type, ...part })) }),
    ...(message.toolCalls.length === 0
      ? {}
      : { tool_calls: message.toolCalls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })) }),
    ...(message.toolCallId === null ? {} : { tool_call_id: message.toolCallId }),
    ...(message.partial ? { partial: true } : {}),
  };
}
