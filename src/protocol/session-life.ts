import { z } from 'zod';
import { id, instant, line, revision, sessionId } from './fields.ts';
import { defineMethod } from './method.ts';

const flags = {
  archived: z.boolean().optional().describe('Leaves the session out of lists that do not ask for archived ones.'),
  pinned: z.boolean().optional().describe('For clients: the gateway only keeps it.'),
};

export const sessionUpdate = defineMethod({
  name: 'session.update',
  summary:
    'Changes what a session is called, which model it uses, and how lists show it. What is left out stays; another ' +
    'provider comes with its own address. With `revision` only if the session has not changed since. Another model is refused ' +
    'with `session_busy` while a turn runs.',
  scope: 'write',
  params: z
    .strictObject({
      session_id: sessionId,
      revision: revision.optional(),
      title: line(500).nullable().optional().describe('Null takes the title away.'),
      provider: line(200).optional().describe('A configured provider. Needs `model`.'),
      model: line(200).optional().describe('Alone it stays with the provider and the address that the session has.'),
      base_url: line(2000)
        .optional()
        .describe('An address that is configured for the provider. Needs `provider` and `model`.'),
      ...flags,
    })
    .refine(({ provider, model }) => provider === undefined || model !== undefined, {
      error: 'is needed with provider',
      path: ['model'],
    })
    .refine(({ provider, base_url }) => base_url === undefined || provider !== undefined, {
      error: 'is needed with base_url',
      path: ['provider'],
    }),
  result: z.strictObject({ session_id: id, revision }),
  errors: ['not_found', 'revision_conflict', 'session_busy'],
  order: 'arrival',
});

export const sessionDelete = defineMethod({
  name: 'session.delete',
  summary:
    'Removes the messages, the prompts and the events of a session in which nothing waits, runs or is unknown. Ids, digests and ' +
    'outcomes stay for ever: known input ids are still answered with their receipt, all else is `not_found`. Idempotent.',
  scope: 'write',
  params: z.strictObject({ session_id: sessionId }),
  result: z.strictObject({ session_id: id, deleted_at: instant }),
  errors: ['not_found', 'session_busy'],
  order: 'arrival',
});
