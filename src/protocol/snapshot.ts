import { z } from 'zod';
import { openApproval } from './approval.ts';
import { count, generation, id, instant, knownInputId, revision, seq } from './fields.ts';
import { message, shownParts, usage } from './message.ts';
import { admissionStatus, blocker, boundary, delivery, evidence, ifOver } from './receipt.ts';

export const hold = z.strictObject({
  reason: z.string(),
  until: instant.nullable().describe('When the hold ends by itself; null: somebody must release it.'),
  by: z.string(),
  at: instant,
});

/** An admission that is not terminal, as a snapshot lists it. */
export const pendingItem = z.strictObject({
  admission_id: id,
  input_id: knownInputId,
  text: z.string(),
  parts: shownParts,
  truncated: z.literal(true).optional().describe('Something of the content was cut.'),
  status: admissionStatus,
  sequence: count,
  ahead: count,
  revision,
  execution_generation: generation.nullable(),
  boundary,
  delivery: delivery.optional(),
  steers_generation: generation.optional(),
  if_over: ifOver.optional(),
  evidence: evidence.optional(),
});

/** The numbers on which the next decision about compression is made, in tokens. */
export const contextReport = z.strictObject({
  tokens: count.describe('The size of the next request: the larger of the two that follow.'),
  local_tokens: count,
  reported_tokens: count
    .nullable()
    .describe("The provider's last report and what was added since; null when no report is believed."),
  window_tokens: count,
  window_source: z.string().describe('`configured`, `learnt`, `cache`, `catalogue` or `default`.'),
  reserve_tokens: count,
  reserve_source: z.string().describe('`configured`, `model` or `quarter` (of the window).'),
  trigger_tokens: count,
  trigger_source: z.string().describe('Which bound is the smallest: `threshold`, `threshold_tokens` or `reserve`.'),
  compression_enabled: z.boolean(),
  breaker_open_until: instant.nullable(),
  breaker_reason: z
    .enum(['failed', 'frequent'])
    .nullable()
    .describe(
      'Why the breaker opened last. After `frequent` a request that fits no window is compressed all the same.',
    ),
  breaker_failures: count.describe('How often in a row the breaker has opened.'),
});

const runningTurn = z.strictObject({
  admission_id: id,
  input_id: knownInputId,
  execution_generation: generation,
  step: count,
  boundary,
  started_at: instant,
  stop_requested: z.boolean(),
});

const partialAnswer = z.strictObject({
  execution_generation: generation,
  step: count,
  offset: count.describe('The length of the text in UTF-8 bytes: the offset of the next delta.'),
  text: z.string(),
});

/** The newest message that a fork took over; a null id: it was cut before the first one. */
const forkOrigin = z.strictObject({ session_id: id, message_id: count.nullable() });

/** What a session is, beside its content. */
const sessionProfile = {
  title: z.string().nullable(),
  source: z.string(),
  provider: z.string(),
  model: z.string(),
  base_url: z.string().nullable(),
  cwd: z.string().nullable(),
  toolsets: z.array(z.string()),
  forked_from: forkOrigin.nullable(),
  created_at: instant,
};

/** A session at one instant: everything is of the state whose `last_seq` it carries. */
export const sessionSnapshot = z.strictObject({
  session_id: id.describe('The address of the session, for life.'),
  stored_session_id: id.describe('The open transcript: the tip of the lineage.'),
  ...sessionProfile,
  messages: z.array(message).describe('The newest page of the tip, in order.'),
  more_messages: z.boolean().describe('Older ones exist in the tip: ask again with `before` set to the first id.'),
  pending: z.array(pendingItem).describe('Every admission that is not terminal, in queue order.'),
  running: runningTurn.nullable(),
  partial: partialAnswer.nullable().describe('What the running turn has said of a step that is not in `messages`.'),
  approvals: z.array(openApproval).describe('Tool calls that wait for an approval, oldest first.'),
  hold: hold.nullable(),
  blocked_by: z.array(blocker),
  revision,
  archived: z.boolean(),
  pinned: z.boolean(),
  execution_generation: generation,
  epoch: count,
  store_id: id,
  last_seq: seq.describe('The newest event that is part of this snapshot; the subscription starts after it.'),
  usage: usage.nullable().describe('The newest report of usage among `messages`.'),
  context: contextReport,
});
export type WireSnapshot = z.output<typeof sessionSnapshot>;

/** One row for a session, not one for each transcript. */
export const sessionSummary = z.strictObject({
  session_id: id,
  stored_session_id: id,
  ...sessionProfile,
  revision,
  archived: z.boolean(),
  pinned: z.boolean(),
  execution_generation: generation,
  transcripts: count,
  compressions: count,
  message_count: count,
  queued: count,
  started: count,
  unknown: count,
  held: z.boolean(),
  last_seq: seq,
  updated_at: instant,
});
export type WireSessionSummary = z.output<typeof sessionSummary>;
export type WireHold = z.output<typeof hold>;
export type WirePendingItem = z.output<typeof pendingItem>;
export type WireContextReport = z.output<typeof contextReport>;
