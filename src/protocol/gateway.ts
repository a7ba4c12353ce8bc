import { z } from 'zod';
import { count, generation, id, instant, knownInputId, line } from './fields.ts';
import { defineMethod } from './method.ts';
import { boundary } from './receipt.ts';
import { hold } from './snapshot.ts';

export const gatewayPhase = z.enum(['starting', 'ready', 'draining']);

/** How a server of tools is. */
export const toolServer = z.strictObject({
  server: z.string(),
  state: z.enum(['idle', 'starting', 'ready', 'backing_off', 'failed']),
  tools: count.nullable().describe('How many it has; null until it was asked.'),
  restarts: count,
  last_error: z.string().nullable(),
});
export type WireToolServer = z.output<typeof toolServer>;

export const gatewayStatus = defineMethod({
  name: 'gateway.status',
  summary:
    'Answers how the gateway is: what runs, what waits, and what needs a decision of a person. It shows no prompt.',
  scope: 'read',
  params: z.strictObject({}),
  result: z.strictObject({
    state: gatewayPhase,
    version: z.string(),
    protocol: z.string(),
    instance_id: id,
    epoch: count,
    store_id: id,
    started_at: instant,
    uptime_ms: count,
    model: z.strictObject({ provider: z.string(), model: z.string(), base_url: z.string().nullable() }),
    running: z.array(
      z.strictObject({
        session_id: id,
        admission_id: id,
        execution_generation: generation,
        step: count,
        started_at: instant,
        activity: z.enum(['starting', 'compressing', 'model', 'tools', 'settling']),
      }),
    ),
    waiting_sessions: count.describe('Sessions whose queue could run but waits for a free place.'),
    max_concurrent_turns: count,
    storage: z.enum(['ok', 'retrying', 'failed']),
    tools: z.array(toolServer),
    sessions: count,
    admissions: z.strictObject({ queued: count, started: count, unknown: count, terminal: count }),
    breakers: z
      .array(
        z.strictObject({
          session_id: id,
          open_until: instant,
          reason: z.enum(['failed', 'frequent']),
          failures: count,
        }),
      )
      .describe('Sessions that do not compress by themselves for a while, at most 20.'),
    held: z
      .array(z.strictObject({ session_id: id, hold, queued: count }))
      .describe('Sessions whose prompts wait until the hold ends, the oldest hold first, at most 20.'),
    unknown: z
      .array(
        z.strictObject({
          session_id: id,
          admission_id: id,
          input_id: knownInputId,
          execution_generation: generation.nullable(),
          boundary,
          lost_at: instant.nullable(),
        }),
      )
      .describe('The oldest admissions that wait for prompt.resolve_unknown.'),
  }),
  errors: [],
  order: 'any',
});

export const gatewayBackup = defineMethod({
  name: 'gateway.backup',
  summary:
    "Writes a copy of the store to a file on the gateway's machine while everything goes on, checks it, and answers when it is complete. Everything that was acknowledged before the call is in it. `holdfast restore` puts it back.",
  scope: 'admin',
  params: z.strictObject({
    path: line(4_096).describe(
      'An absolute path. The file must not exist yet, and its folder must: any but the home folder itself.',
    ),
  }),
  result: z.strictObject({
    path: z.string(),
    bytes: count,
    store_id: id,
    epoch: count,
    commits: count.describe('The number of the newest commit in it.'),
  }),
  errors: ['backup_failed'],
  order: 'any',
});

export const ping = defineMethod({
  name: 'ping',
  summary:
    'Answers at once with the time. It shows that calls get through; the sockets themselves are watched with WebSocket pings.',
  scope: null,
  params: z.strictObject({}),
  result: z.strictObject({ at: instant }),
  errors: [],
  order: 'any',
});

export const rpcDiscover = defineMethod({
  name: 'rpc.discover',
  summary: 'Answers the OpenRPC document of this protocol.',
  scope: null,
  params: z.strictObject({}),
  result: z.looseObject({ openrpc: z.string() }).describe('An OpenRPC document; see https://spec.open-rpc.org.'),
  errors: [],
  order: 'any',
});
