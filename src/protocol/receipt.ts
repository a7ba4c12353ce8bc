import { z } from 'zod';
import { count, generation, id, instant, knownInputId, revision } from './fields.ts';

export const admissionStatus = z.enum(['queued', 'started', 'unknown', 'terminal']);
export const delivery = z
  .enum(['queue', 'steer'])
  .describe('`steer`: it waits for the next step of a running turn, and not in the queue.');
export const ifOver = z
  .enum(['cancel', 'queue'])
  .describe('What becomes of a steer whose turn is over before its next step.');
export const admissionOutcome = z.enum(['completed', 'failed', 'interrupted', 'cancelled']);
export const boundary = z
  .enum(['none', 'model', 'tool'])
  .describe('The furthest point that the turn may have passed: nothing sent, a model request, a tool call.');

export const failure = z.strictObject({
  reason: z.string().describe('A stable name.'),
  message: z.string().describe('For people.'),
  retryable: z.boolean(),
  provider_status: z.int().optional(),
  retry_after_ms: count.optional(),
});
export type WireFailure = z.output<typeof failure>;

/** What is known of a turn whose process was lost. */
export const evidence = z.strictObject({
  boundary,
  owner_epoch: count,
  started_at: instant,
  lost_at: instant,
  step: count,
  open_tool_calls: z.array(z.string()),
});
export type WireEvidence = z.output<typeof evidence>;

export const resolution = z.strictObject({
  action: z.enum(['discard', 'retry']),
  by: z.string().describe("A principal, or 'policy' when recovery.on_unknown decided."),
  at: instant,
});

export const blocker = z
  .enum(['unknown_execution', 'session_held', 'compressing', 'storage'])
  .describe(
    'Why the head of the queue does not start now, beyond a turn that runs. `storage`: it is full or busy, and the work of turns is tried again until it is stored.',
  );

/** What the sender of a prompt holds. It is there for ever, whatever becomes of the prompt. */
export const receipt = z.strictObject({
  admission_id: id,
  session_id: id,
  input_id: knownInputId,
  sequence: count.describe('Numbers the admissions in the order of their commit.'),
  ahead: count.describe('How many admissions come before this one; 0 when it runs or has ended.'),
  status: admissionStatus,
  outcome: admissionOutcome.nullable(),
  execution_generation: generation.nullable().describe('That of its turn, once it has started.'),
  revision,
  duplicate: z.boolean().describe('Whether the admission was there before this call.'),
  blocked_by: z.array(blocker),
  failure: failure.optional(),
  evidence: evidence.optional(),
  resolution: resolution.optional(),
  retried_by: id.optional().describe('The admission that a retry made of this one.'),
  delivery: delivery.optional().describe('Only of a steer; `queue` once its turn is over and it waits like any other.'),
  steers_generation: generation.optional().describe('The turn that a steer is meant for.'),
  if_over: ifOver.optional(),
  merged_into: id.optional().describe('The admission into whose turn the text of a steer went.'),
  accepted_at: instant,
  started_at: instant.optional(),
  settled_at: instant.optional(),
});
export type WireReceipt = z.output<typeof receipt>;
