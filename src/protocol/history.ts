import { z } from 'zod';
import { count, cursor, id, instant, knownInputId, line, pageSize, seq, sessionId } from './fields.ts';
import { message, shownParts, usage } from './message.ts';
import { defineMethod } from './method.ts';
import { admissionOutcome, failure } from './receipt.ts';
import { sessionSnapshot } from './snapshot.ts';

const trigger = z.enum(['preflight', 'overflow', 'downshift', 'manual']);

const at = {
  seq: seq.describe('The event that the entry stands for: its place in the history, for ever.'),
  at: instant,
};

const compressionBorder = {
  compression_id: id,
  trigger,
  parent_transcript: id,
  child_transcript: id.describe('Equal to the parent when the compression was made in place.'),
  tokens_before: count,
  tokens_after: count,
  model: z.string(),
};

/** One line of a session's history. Each message is shown once, whatever compressions have copied it. */
const historyEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    ...at,
    transcript: id,
    active: z.boolean().describe('False when the message left its transcript without a successor of it.'),
    message,
  }),
  z
    .strictObject({
      type: z.literal('prompt'),
      ...at,
      admission_id: id,
      input_id: knownInputId,
      outcome: admissionOutcome.nullable(),
      text: z.string(),
      parts: shownParts,
      truncated: z.literal(true).optional(),
    })
    .describe('A prompt that ended without ever reaching the transcript.'),
  z
    .strictObject({ type: z.literal('compression'), ...at, ...compressionBorder, summary: message })
    .describe('Everything above was replaced, in what the model sees, by the summary and what the compression kept.'),
]);
export type WireHistoryEntry = z.output<typeof historyEntry>;

export const sessionHistory = defineMethod({
  name: 'session.history',
  summary:
    'Answers a page of everything that was ever said in a session, over all its transcripts: the newest page, or the one before ' +
    'or after a cursor. Cursors stay valid for ever. Long texts are cut and marked with `truncated`: `session.content` has the whole.',
  scope: 'read',
  params: z
    .strictObject({
      session_id: sessionId,
      before: cursor.optional().describe('An `older_cursor`.'),
      after: cursor.optional().describe('A `newer_cursor`; "0" begins at the beginning.'),
      limit: pageSize(100, 500),
    })
    .refine((params) => params.before === undefined || params.after === undefined, {
      error: 'needs at most one of before and after',
      path: ['before'],
    }),
  result: z.strictObject({
    session_id: id,
    entries: z.array(historyEntry),
    older_cursor: z.string().nullable().describe('Null at the beginning.'),
    newer_cursor: z.string().describe('Also at the end: what comes later is found after it.'),
    at_end: z.boolean().describe('Whether nothing newer was there.'),
  }),
  errors: ['not_found'],
  order: 'any',
});

export const sessionContent = defineMethod({
  name: 'session.content',
  summary:
    'Answers a text of the history whole, in pieces: a message, the arguments of one of its calls, the text or the base64 data of ' +
    'one of its parts, or a prompt, also one that never reached the transcript.',
  scope: 'read',
  params: z
    .strictObject({
      session_id: sessionId,
      message_id: count.optional(),
      admission_id: id.optional(),
      tool_call: count.optional().describe('The place of a call in the message, from 0.'),
      part: count.optional().describe('The place of a part in the message or the prompt, from 0.'),
      offset: count.default(0).describe('0, or the `next_offset` of the piece before.'),
    })
    .refine((params) => (params.message_id === undefined) !== (params.admission_id === undefined), {
      error: 'needs either message_id or admission_id',
      path: ['message_id'],
    })
    .refine(
      ({ tool_call, part, message_id }) => tool_call === undefined || (part === undefined && message_id !== undefined),
      {
        error: 'belongs to a message_id, without part',
        path: ['tool_call'],
      },
    ),
  result: z.strictObject({
    text: z.string(),
    offset: count,
    next_offset: count.nullable().describe('Null with the last piece.'),
    length: count.describe('Of the whole text, in the units of `offset`.'),
  }),
  errors: ['not_found'],
  order: 'any',
});

export const sessionLineage = defineMethod({
  name: 'session.lineage',
  summary:
    'Answers the chain of transcripts, root first, and the record of each compression. Any id of the lineage works.',
  scope: 'read',
  params: z.strictObject({ session_id: sessionId }),
  result: z.strictObject({
    session_id: id,
    stored_session_id: id.describe('The open transcript.'),
    transcripts: z.array(
      z.strictObject({
        id,
        parent_id: id.nullable(),
        started_at: instant,
        ended_at: instant.nullable(),
        end_reason: z.string().nullable(),
        message_count: count,
      }),
    ),
    compressions: z
      .array(
        z.strictObject({
          compression_id: id,
          trigger,
          status: z.enum(['started', 'completed', 'failed']),
          parent_transcript: id,
          child_transcript: id.nullable(),
          admission_id: id.nullable(),
          tokens_before: count,
          tokens_after: count.nullable(),
          model: z.string().nullable(),
          usage: usage.optional(),
          failure: failure.optional(),
          started_at: instant,
          ended_at: instant.nullable(),
        }),
      )
      .describe('The newest thousand, oldest first.'),
  }),
  errors: ['not_found'],
  order: 'any',
});

export const sessionSearch = defineMethod({
  name: 'session.search',
  summary:
    "Finds messages that hold all words of a query, newest first, in one session or in all of the caller's, across every compression. " +
    'Case and accents do not count; `"words in quotes"` stand next to each other, `begin*` may go on; every text is a query.',
  scope: 'read',
  params: z.strictObject({
    query: z.string().max(1000),
    session_id: sessionId.optional().describe('Only this session; any id of its lineage.'),
    limit: pageSize(20, 100),
    cursor: cursor.optional(),
  }),
  result: z.strictObject({
    hits: z.array(
      z.strictObject({
        session_id: id,
        title: z.string().nullable(),
        transcript: id,
        message_id: count,
        role: message.shape.role,
        kind: message.shape.kind,
        admission_id: id.nullable(),
        snippet: z.string(),
        truncated: z.literal(true).optional().describe('The snippet is a part of the text.'),
        at: instant,
      }),
    ),
    next_cursor: z.string().nullable(),
    behind: z.boolean().describe('The index is still catching up: newer messages may be missing from this page.'),
  }),
  errors: ['not_found'],
  order: 'any',
});

export const sessionFork = defineMethod({
  name: 'session.fork',
  summary:
    'Makes a session of its own from the transcript as it was when it held a message, and answers its snapshot and subscribes. The ' +
    'cut falls behind the step that the message belongs to, never between a call and its result; an unanswered prompt is left out.',
  scope: 'write',
  params: z.strictObject({
    session_id: sessionId,
    message_id: count.describe('Of any message of the lineage, also a compressed one.'),
    request_id: id.optional().describe('Makes the call idempotent, as that of `session.create`.'),
    title: line(500).optional(),
  }),
  result: sessionSnapshot.extend({ created: z.boolean().describe('False when an earlier call made it.') }),
  errors: ['not_found', 'request_conflict'],
  order: 'arrival',
});

export const sessionExport = defineMethod({
  name: 'session.export',
  summary:
    'Answers a document of the whole session in pieces: the texts of all pages, one after the other, are the document, of the ' +
    'session as it was at the first page. Secrets that the gateway holds are masked; images and files are only described in Markdown.',
  scope: 'read',
  params: z.strictObject({
    session_id: sessionId,
    format: z.enum(['json', 'markdown']).default('markdown'),
    cursor: cursor.optional(),
  }),
  result: z.strictObject({ session_id: id, text: z.string(), next_cursor: z.string().nullable() }),
  errors: ['not_found'],
  order: 'any',
});
