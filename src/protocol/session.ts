import { z } from 'zod';
import { anyDurableEvent } from './events.ts';
import {
  count,
  cursor,
  generation,
  id,
  inputId,
  instant,
  line,
  pageSize,
  revision,
  seq,
  sessionId,
  text,
} from './fields.ts';
import { defineMethod } from './method.ts';
import { eitherContent, hasOneContent, promptContent, usage } from './message.ts';
import { blocker, ifOver, receipt } from './receipt.ts';
import { contextReport, hold, sessionSnapshot, sessionSummary } from './snapshot.ts';

const storeId = id
  .optional()
  .describe('The store to which the cursor belongs. Another store answers `snapshot_required`.');

/** A part of a plan for a compression. */
const planPart = z.strictObject({ messages: count, tokens: count });

const messagePage = {
  message_limit: pageSize(200, 500).describe(
    'How many of the newest messages of the tip; fewer come when they are large.',
  ),
};

export const sessionCreate = defineMethod({
  name: 'session.create',
  summary:
    'Makes a session, subscribes the connection to it and answers its snapshot. The same `request_id` with the same ' +
    'parameters finds the session that it made before, for ever. What is left out takes the configured default.',
  scope: 'write',
  params: z.strictObject({
    request_id: id.optional().describe('Makes the call idempotent. Without one every call makes a session.'),
    source: line(100).default('api').describe('Where the session comes from; it chooses the toolsets.'),
    title: line(500).optional(),
    provider: line(200).optional().describe('A configured provider.'),
    model: line(200).optional(),
    base_url: line(2000).optional().describe('A configured address: a key goes only where it is configured for.'),
    toolsets: z.array(line(200)).max(100).optional(),
    cwd: line(4096).optional(),
    system_prompt: text.optional(),
    ...messagePage,
  }),
  result: sessionSnapshot.extend({ created: z.boolean().describe('False when an earlier call made it.') }),
  errors: ['request_conflict'],
  order: 'arrival',
});

export const sessionResume = defineMethod({
  name: 'session.resume',
  summary:
    "Answers a session's snapshot and subscribes the connection from the snapshot's own `last_seq` on, in one step: no " +
    'event is missing between the two and none comes twice. An earlier subscription of this connection to the session ends ' +
    'when the call starts. With `before` it answers an older page of messages.',
  scope: 'read',
  params: z.strictObject({
    session_id: sessionId,
    ...messagePage,
    before: count.optional().describe('Only messages with a smaller id.'),
  }),
  result: sessionSnapshot,
  errors: ['not_found'],
  order: 'arrival',
});

export const sessionGet = defineMethod({
  name: 'session.get',
  summary: 'Answers one session without its content and without a subscription.',
  scope: 'read',
  params: z.strictObject({ session_id: sessionId }),
  result: sessionSummary.extend({ hold: hold.nullable(), blocked_by: z.array(blocker), context: contextReport }),
  errors: ['not_found'],
  order: 'any',
});

export const sessionList = defineMethod({
  name: 'session.list',
  summary:
    "Answers the caller's sessions, the one that was made last first: one row for a session, not for each transcript. One that " +
    'changes keeps its place, so none is missed between two pages.',
  scope: 'read',
  params: z.strictObject({
    archived: z.enum(['exclude', 'include', 'only']).default('exclude'),
    limit: pageSize(50, 200),
    cursor: cursor.optional(),
  }),
  result: z.strictObject({ sessions: z.array(sessionSummary), next_cursor: z.string().nullable() }),
  errors: [],
  order: 'any',
});

export const sessionInterrupt = defineMethod({
  name: 'session.interrupt',
  summary:
    'Asks the running turn to stop. The answer comes when the request is durable; from then on the turn never ends ' +
    '`completed`. It needs the generation of the turn, so that a late call never hits the next one. Idempotent while the turn runs. ' +
    'A compression by hand has a generation too, and ends at once.',
  scope: 'write',
  params: z.strictObject({ session_id: sessionId, execution_generation: generation }),
  result: z.strictObject({
    session_id: id,
    admission_id: id.nullable().describe('Null: a compression by hand was stopped.'),
    execution_generation: generation,
  }),
  errors: ['not_found', 'turn_over', 'stale_generation', 'unknown_execution'],
  order: 'arrival',
});

export const sessionSteer = defineMethod({
  name: 'session.steer',
  summary:
    'Adds a prompt to the running turn at its next step. It is accepted like `prompt.submit`, with an `input_id` that means the ' +
    'same for ever, and needs the generation of the turn. The append that puts its text into the turn ends it as `completed`, with ' +
    '`merged_into`; until then it can be cancelled. If the turn is over first it is cancelled as `turn_over`, or waits in the queue.',
  scope: 'write',
  params: z
    .strictObject({
      session_id: sessionId,
      execution_generation: generation,
      input_id: inputId,
      ...promptContent,
      if_over: ifOver.default('cancel'),
    })
    .refine(hasOneContent, eitherContent),
  result: receipt,
  errors: [
    'not_found',
    'admission_conflict',
    'turn_over',
    'stale_generation',
    'unknown_execution',
    'draining',
    'queue_full',
  ],
  order: 'arrival',
});

export const sessionCompress = defineMethod({
  name: 'session.compress',
  summary:
    'Compresses the transcript now, and answers when that is committed or has come to nothing. Prompts are accepted meanwhile ' +
    'and wait; nothing is claimed. The same `request_id` starts one compression and answers the same for ever. It raises the ' +
    'generation like a turn: `session.interrupt` with it ends the compression. With `preview` it only says what it would do.',
  scope: 'write',
  params: z.strictObject({
    session_id: sessionId,
    request_id: id.optional().describe('Makes the call idempotent. Without one every call is a request of its own.'),
    focus: text.optional().describe('What the summary is to keep an eye on.'),
    keep_last: z
      .number()
      .int()
      .min(0)
      .max(10_000)
      .optional()
      .describe('How many messages at the end stay as they are, as far as they fit; else what the configuration says.'),
    preview: z.boolean().default(false),
  }),
  result: z.discriminatedUnion('preview', [
    z.strictObject({
      preview: z.literal(false),
      session_id: id,
      stored_session_id: id.describe('The transcript that holds the summary.'),
      compression_id: id,
      execution_generation: generation,
      tokens_before: count,
      tokens_after: count,
      model: z.string(),
      usage: usage.nullable(),
      duplicate: z.boolean().describe('An earlier call of the same `request_id` made it.'),
    }),
    z.strictObject({
      preview: z.literal(true),
      session_id: id,
      tokens: count.describe('The local count of the next request, without a prompt.'),
      window_tokens: count,
      trigger_tokens: count,
      plans: z
        .array(
          z.strictObject({
            rung: z.enum(['wide', 'narrow', 'inside']),
            head: planPart,
            middle: planPart,
            tail: planPart,
            bound_tokens: count.describe('The rebuilt context must be smaller than this.'),
          }),
        )
        .describe('In the order in which they would be tried. None: there is nothing to compress.'),
    }),
  ]),
  errors: ['not_found', 'session_busy', 'request_conflict', 'nothing_to_compress', 'compression_failed', 'draining'],
  order: 'any',
});

export const sessionHold = defineMethod({
  name: 'session.hold',
  summary: 'Pauses the queue: a turn that runs goes on, and nothing more starts. A later hold replaces an earlier one.',
  scope: 'write',
  params: z.strictObject({
    session_id: sessionId,
    reason: line(500).default('client'),
    until: instant.optional().describe('When the hold ends by itself.'),
  }),
  result: z.strictObject({ session_id: id, revision }),
  errors: ['not_found'],
  order: 'arrival',
});

export const sessionRelease = defineMethod({
  name: 'session.release',
  summary: 'Ends a hold; without one it changes nothing. It never lifts a turn whose fate is unknown.',
  scope: 'write',
  params: z.strictObject({ session_id: sessionId }),
  result: z.strictObject({ session_id: id, revision }),
  errors: ['not_found'],
  order: 'arrival',
});

export const sessionSubscribe = defineMethod({
  name: 'session.subscribe',
  summary:
    "Sends the session's durable events after `after_seq`, each once and in order, and goes on with what happens. The events " +
    'follow the answer. A connection has one subscription for a session: a further one replaces it. One that falls too far ' +
    'behind ends with the event `subscription.gap`.',
  scope: 'read',
  params: z.strictObject({ session_id: sessionId, after_seq: seq, store_id: storeId }),
  result: z.strictObject({
    session_id: id,
    after_seq: seq,
    last_seq: seq.describe('The newest event at this moment.'),
  }),
  errors: ['not_found', 'snapshot_required'],
  order: 'arrival',
});

export const sessionUnsubscribe = defineMethod({
  name: 'session.unsubscribe',
  summary:
    "Ends this connection's subscription to the session; without one it changes nothing. No event follows the answer.",
  scope: 'read',
  params: z.strictObject({ session_id: sessionId }),
  result: z.strictObject({ session_id: id, subscribed: z.boolean().describe('Whether there was a subscription.') }),
  errors: ['not_found'],
  order: 'arrival',
});

export const sessionEvents = defineMethod({
  name: 'session.events',
  summary:
    "Answers a page of the session's durable events after `after_seq`, in order; fewer come when they are large.",
  scope: 'read',
  params: z.strictObject({ session_id: sessionId, after_seq: seq, limit: pageSize(200, 500), store_id: storeId }),
  result: z.strictObject({
    session_id: id,
    store_id: id,
    events: z.array(anyDurableEvent),
    last_seq: seq.describe('The newest event of the session: the page is the last one when it reaches it.'),
  }),
  errors: ['not_found', 'snapshot_required'],
  order: 'any',
});
