import { z } from 'zod';
import { cursor, generation, id, inputId, knownInputId, pageSize, revision, sessionId } from './fields.ts';
import { longestWaitMs } from './limits.ts';
import { eitherContent, hasOneContent, promptContent, shownParts } from './message.ts';
import { defineMethod } from './method.ts';
import { receipt } from './receipt.ts';

/** Names one admission, by either of its names. */
const key = { admission_id: id.optional(), input_id: knownInputId.optional() };

const namesOne = (params: { admission_id?: string | undefined; input_id?: string | undefined }): boolean =>
  (params.admission_id === undefined) !== (params.input_id === undefined);

const eitherKey = { error: 'needs either admission_id or input_id', path: ['admission_id'] };

export const promptSubmit = defineMethod({
  name: 'prompt.submit',
  summary:
    "Takes a prompt into the session's queue. The receipt comes after the commit. The same `input_id` with the same content " +
    'gives the same admission for ever, with `duplicate: true`; with other content it is an `admission_conflict`. A known id is ' +
    'answered in every state of the gateway.',
  scope: 'write',
  params: z
    .strictObject({
      session_id: sessionId,
      input_id: inputId,
      ...promptContent,
    })
    .refine(hasOneContent, eitherContent),
  result: receipt,
  errors: ['not_found', 'admission_conflict', 'draining', 'queue_full'],
  order: 'arrival',
});

export const promptReceipt = defineMethod({
  name: 'prompt.receipt',
  summary: 'Answers the receipt of a prompt as it is now, for ever.',
  scope: 'read',
  params: z.strictObject({ session_id: sessionId, ...key }).refine(namesOne, eitherKey),
  result: receipt,
  errors: ['not_found'],
  order: 'arrival',
});

export const promptList = defineMethod({
  name: 'prompt.list',
  summary: 'Answers the prompts of a session in queue order: those that are not terminal, or all.',
  scope: 'read',
  params: z.strictObject({
    session_id: sessionId,
    include: z.enum(['open', 'all']).default('open'),
    limit: pageSize(100, 200),
    cursor: cursor.optional(),
  }),
  result: z.strictObject({
    session_id: id,
    prompts: z.array(
      receipt.extend({
        text: z.string().nullable().describe('Null when the content was deleted.'),
        parts: shownParts,
        truncated: z.literal(true).optional().describe('Something of the content was cut.'),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  errors: ['not_found'],
  order: 'any',
});

export const promptCancel = defineMethod({
  name: 'prompt.cancel',
  summary: 'Withdraws a prompt that waits. Idempotent. With `revision` only if the prompt has not changed since.',
  scope: 'write',
  params: z.strictObject({ session_id: sessionId, ...key, revision: revision.optional() }).refine(namesOne, eitherKey),
  result: receipt,
  errors: ['not_found', 'not_queued', 'revision_conflict'],
  order: 'arrival',
});

export const promptEdit = defineMethod({
  name: 'prompt.edit',
  summary:
    'Gives a prompt that waits other content. Its identity stays: a repeat of the first submit is still answered with its ' +
    'receipt. With `revision` only if the prompt has not changed since.',
  scope: 'write',
  params: z
    .strictObject({ session_id: sessionId, ...key, revision: revision.optional(), ...promptContent })
    .refine(namesOne, eitherKey)
    .refine(hasOneContent, eitherContent),
  result: receipt,
  errors: ['not_found', 'not_queued', 'revision_conflict'],
  order: 'arrival',
});

export const promptMove = defineMethod({
  name: 'prompt.move',
  summary:
    'Gives a prompt that waits another place in the queue: the first, the last, or just before another one that waits. It never ' +
    'overtakes the turn that runs. With `revision` only if the prompt has not changed since.',
  scope: 'write',
  params: z
    .strictObject({
      session_id: sessionId,
      ...key,
      revision: revision.optional(),
      to: z.enum(['first', 'last']).optional(),
      before: id.optional().describe('The admission id of the prompt that comes behind it.'),
    })
    .refine(namesOne, eitherKey)
    .refine((params) => (params.to === undefined) !== (params.before === undefined), {
      error: 'needs either to or before',
      path: ['to'],
    }),
  result: receipt,
  errors: ['not_found', 'not_queued', 'revision_conflict'],
  order: 'arrival',
});

export const promptResolveUnknown = defineMethod({
  name: 'prompt.resolve_unknown',
  summary:
    'Ends a turn whose fate nobody knows, as `interrupted`. `retry` also admits its prompt anew at the head of the queue, under ' +
    "the input id '<old>~<n>'; `retry` in the answer is its receipt. A repeat with the same action answers the same receipt.",
  scope: 'write',
  params: z.strictObject({
    session_id: sessionId,
    admission_id: id,
    execution_generation: generation,
    action: z.enum(['discard', 'retry']).default('discard'),
  }),
  result: receipt.extend({
    retry: receipt.nullable().describe('The receipt of the retry, as it is now; null without one.'),
  }),
  errors: ['not_found', 'not_unknown', 'stale_generation', 'already_resolved'],
  order: 'arrival',
});

export const promptWait = defineMethod({
  name: 'prompt.wait',
  summary:
    'Answers when the prompt is terminal (`settled: true`), when its fate becomes unknown, or after `timeout_ms`. Call it again ' +
    'after a reconnect. It holds up no later call, but in a batch the whole answer waits for it.',
  scope: 'read',
  params: z
    .strictObject({ session_id: sessionId, ...key, timeout_ms: z.int().min(0).max(longestWaitMs).default(30_000) })
    .refine(namesOne, eitherKey),
  result: receipt.extend({ settled: z.boolean().describe('Whether the receipt is final.') }),
  errors: ['not_found'],
  order: 'arrival',
});
