import { z } from 'zod';
import { approvalResolution } from './approval.ts';
import { count, generation, id, revision } from './fields.ts';
import { failure, receipt } from './receipt.ts';

export interface ErrorEntry {
  /** Never given to another reason, also when this one is gone. */
  readonly code: number;
  /** Whether the same call may succeed later, unchanged. An error's `data` has the last word. */
  readonly retryable: boolean;
  readonly summary: string;
}

/**
 * Every reason for which a call can fail, with its code. Negative codes are JSON-RPC's own; positive ones belong to this
 * protocol. Programs branch on the reason or the code; the message is for people.
 */
export const errors = {
  parse_error: { code: -32700, retryable: false, summary: 'The frame is not JSON.' },
  invalid_request: {
    code: -32600,
    retryable: false,
    summary: 'The JSON is not a JSON-RPC 2.0 request, or is nested too deep or too large.',
  },
  method_not_found: { code: -32601, retryable: false, summary: 'There is no such method.' },
  invalid_params: {
    code: -32602,
    retryable: false,
    summary: 'The parameters do not fit the method; `fields` says where.',
  },
  internal: {
    code: -32603,
    retryable: false,
    summary:
      'The gateway has a fault. `incident` is the id under which it is logged. Whether the call took effect is unknown.',
  },

  unauthorized: { code: 1001, retryable: false, summary: 'The token is missing or wrong.' },
  forbidden: { code: 1002, retryable: false, summary: 'The caller lacks the scope that the method needs.' },
  not_found: {
    code: 1003,
    retryable: false,
    summary: 'There is no such session, admission, approval or message; `what` says which.',
  },

  admission_conflict: {
    code: 1101,
    retryable: false,
    summary: 'The input id belongs to a prompt with other content; `receipt` is that of the prompt.',
  },
  request_conflict: {
    code: 1102,
    retryable: false,
    summary: 'The request id belongs to a request with other parameters; `session_id` is what it made.',
  },
  revision_conflict: {
    code: 1103,
    retryable: false,
    summary: 'It has changed since that revision; `revision` is the present one.',
  },
  stale_generation: {
    code: 1104,
    retryable: false,
    summary: 'The call aims at another turn; `execution_generation` is the present one.',
  },
  stale_epoch: { code: 1105, retryable: false, summary: 'Another process owns the store now.' },
  snapshot_required: {
    code: 1106,
    retryable: false,
    summary: 'The cursor does not belong to this history: take a snapshot with session.resume.',
  },

  unknown_execution: { code: 1201, retryable: false, summary: 'The fate of the turn is unknown: resolve it first.' },
  already_resolved: {
    code: 1202,
    retryable: false,
    summary: 'The turn was resolved with another action; `receipt` says which.',
  },
  not_unknown: {
    code: 1203,
    retryable: false,
    summary: 'The fate of the admission is known, so there is nothing to resolve.',
  },
  not_queued: { code: 1204, retryable: false, summary: 'The prompt waits no more; `receipt` says what became of it.' },
  turn_over: { code: 1205, retryable: false, summary: 'The turn of that generation does not run any more.' },
  session_busy: {
    code: 1206,
    retryable: true,
    summary: 'A turn of the session runs, its fate is unknown, or the session is compressed by hand.',
  },
  session_held: { code: 1207, retryable: false, summary: 'The session is held: release it first.' },
  nothing_to_compress: { code: 1208, retryable: false, summary: 'The transcript is too short to be compressed.' },
  compression_failed: {
    code: 1209,
    retryable: true,
    summary:
      'The compression came to nothing; the transcript is as it was. `failure` says why. A repeat with the same `request_id` answers ' +
      'the same for ever: where `failure` is retryable, another one may succeed.',
  },
  approval_closed: {
    code: 1220,
    retryable: false,
    summary: 'The request for approval was answered otherwise, expired, or ended with its turn; `resolution` says how.',
  },

  queue_full: {
    code: 1301,
    retryable: true,
    summary: 'As many prompts wait in the session as may wait; `limit` says how many.',
  },
  overloaded: {
    code: 1302,
    retryable: true,
    summary: 'The connection has too many unanswered calls or subscriptions; `limit` says how many it may have.',
  },
  rate_limited: { code: 1303, retryable: true, summary: 'Calls come too fast; wait for `retry_after_ms`.' },
  draining: {
    code: 1304,
    retryable: true,
    summary: 'The gateway stops and takes no new prompt. Repeat the call with the same id after the restart.',
  },
  payload_too_large: { code: 1305, retryable: false, summary: 'The call or its answer is larger than a frame may be.' },
  storage_unavailable: {
    code: 1306,
    retryable: true,
    summary:
      'The storage failed. With `outcome_unknown` the call may have taken effect: repeat it with the same id after the restart.',
  },
  backup_failed: {
    code: 1307,
    retryable: false,
    summary:
      'The backup could not be written, as the message says. There is no file of its name that was not there before.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorReason = keyof typeof errors;

/** What any method may answer, whatever it is. */
export const commonReasons = [
  'invalid_params',
  'forbidden',
  'overloaded',
  'rate_limited',
  'payload_too_large',
  'storage_unavailable',
  'internal',
] as const satisfies readonly ErrorReason[];

const reasons = Object.keys(errors) as [ErrorReason, ...ErrorReason[]]; // the table's own keys, of which there are some

/** The `data` of every error. */
export const errorData = z.strictObject({
  reason: z.enum(reasons),
  retryable: z.boolean(),
  retry_after_ms: count.optional(),
  fields: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .optional()
    .describe('Where the parameters are wrong. The path of a nested field has dots.'),
  receipt: receipt.optional().describe('The admission that the call met, as it is now.'),
  revision: revision.optional(),
  execution_generation: generation.optional(),
  session_id: id.optional(),
  failure: failure.optional().describe('Why a compression came to nothing.'),
  what: z.enum(['session', 'admission', 'approval', 'message']).optional(),
  resolution: approvalResolution.optional().describe('How the request for approval ended.'),
  limit: count.optional(),
  outcome_unknown: z.boolean().optional().describe('True: the call may or may not have taken effect.'),
  incident: id.optional(),
});
export type ErrorData = z.output<typeof errorData>;
