import { z } from 'zod';
import { approvalAnswer, approvalResolution } from './approval.ts';
import { count, generation, id, instant, knownInputId, seq } from './fields.ts';
import { gatewayPhase } from './gateway.ts';
import { connectionLimits } from './limits.ts';
import { message, usage } from './message.ts';
import { scopes } from './method.ts';
import { admissionOutcome, boundary, delivery, evidence, failure, ifOver, resolution } from './receipt.ts';
import { hold } from './snapshot.ts';

/** What every event of a session carries. */
const header = { session_id: id, at: instant, epoch: count.describe('Of the owner that made the event.') };
const about = { admission_id: id.optional(), execution_generation: generation.optional() };

/** An event of the session's log: published only after its commit, and read again for ever. */
function durable<const T extends string, P extends z.ZodType>(type: T, summary: string, payload: P) {
  return z.strictObject({ type: z.literal(type), ...header, seq, ...about, payload }).describe(summary);
}

/** An event that nobody keeps. */
function live<const T extends string>(type: T, summary: string) {
  const payload = z.strictObject({
    step: count,
    offset: count.describe("Where the text starts, in UTF-8 bytes of the step's text: a gap or a repeat shows in it."),
    text: z.string(),
  });
  return z
    .strictObject({ type: z.literal(type), ...header, admission_id: id, execution_generation: generation, payload })
    .describe(summary);
}

const trigger = z.enum(['preflight', 'overflow', 'downshift', 'manual']);

export const durableEvents = [
  durable(
    'session.created',
    'The session exists.',
    z.strictObject({ title: z.string().nullable(), source: z.string(), provider: z.string(), model: z.string() }),
  ),
  durable(
    'session.updated',
    'What the session is called, its model, or how lists show it. Only what has changed is there.',
    z.strictObject({
      title: z.string().nullable().optional(),
      provider: z.string().optional(),
      model: z.string().optional(),
      base_url: z.string().nullable().optional(),
      archived: z.boolean().optional(),
      pinned: z.boolean().optional(),
      by: z.string(),
    }),
  ),
  durable(
    'session.deleted',
    'The last event of a session: its messages, prompts and earlier events are gone. Its number may leave out some that went before they were sent. The subscription has ended.',
    z.strictObject({ by: z.string() }),
  ),
  durable('session.held', 'The queue is paused.', hold),
  durable('session.released', 'The queue goes on.', z.strictObject({ by: z.string() })),
  durable(
    'admission.queued',
    'A prompt was accepted. Its text is in the queue: `prompt.list`, or `pending` of a snapshot.',
    z.strictObject({
      input_id: knownInputId,
      sequence: count,
      position: z.number(),
      retry_of: id.optional(),
      delivery: delivery.optional(),
      steers_generation: generation.optional(),
      if_over: ifOver.optional(),
    }),
  ),
  durable(
    'admission.cancelled',
    'A prompt was withdrawn before it started; by the gateway itself where there is a failure.',
    z.strictObject({ failure: failure.optional() }),
  ),
  durable(
    'admission.merged',
    'The text of a steer is in the turn of `into`, as the message `message_id`, and the steer has ended as `completed`.',
    z.strictObject({ into: id, message_id: count }),
  ),
  durable('admission.edited', 'A prompt that waits has other content: `prompt.list` has it.', z.strictObject({})),
  durable('admission.moved', 'A prompt that waits has another place.', z.strictObject({ position: z.number() })),
  durable(
    'admission.requeued',
    'The prompt waits at its place: a start was lost before anything was sent, or the turn of a steer is over.',
    z.strictObject({ requeue_count: count }),
  ),
  durable('turn.started', 'A prompt left the queue; its generation is in the header.', z.strictObject({})),
  durable(
    'message.appended',
    'A message joined the transcript. Text beyond 64 KiB is cut and `truncated` is set; the whole is in the history.',
    z.strictObject({
      message,
      step: count,
      boundary: boundary.nullable().describe('The boundary that this append made durable.'),
    }),
  ),
  durable(
    'tool.started',
    'The intent of a tool call is stored, and the tool is started.',
    z.strictObject({ call_id: z.string(), name: z.string() }),
  ),
  durable(
    'tool.finished',
    'A tool call came to an end; its result follows as a message.',
    z.strictObject({
      call_id: z.string(),
      name: z.string(),
      result: z
        .enum(['answered', 'failed', 'broken'])
        .describe("The tool's answer, its error, or no answer at all: then its effect may be unknown."),
    }),
  ),
  durable(
    'approval.requested',
    'A call of the message before waits for an answer (`approval.respond`). Its tool has not been started.',
    z.strictObject({
      approval_id: id,
      call_id: z.string(),
      name: z.string(),
      message_id: count.describe('The message that asks for the call; its arguments are there.'),
      options: z.array(approvalAnswer),
      expires_at: instant,
    }),
  ),
  durable(
    'approval.resolved',
    'The request is closed. An approved call starts with the next event; of a denied or expired one the result follows.',
    approvalResolution.omit({ at: true }).extend({ approval_id: id, call_id: z.string(), name: z.string() }),
  ),
  durable('turn.stop_requested', 'The turn will stop and never ends `completed`.', z.strictObject({ by: z.string() })),
  durable(
    'turn.settled',
    'The turn ended.',
    z.strictObject({
      outcome: admissionOutcome,
      failure: failure.optional(),
      evidence: evidence.optional(),
      usage: usage.optional(),
      hidden: z.array(count).describe('Messages of this turn that left the transcript.'),
    }),
  ),
  durable(
    'turn.lost',
    'The process of the turn was lost after something may have been sent. Nothing starts until somebody resolves it.',
    z.strictObject({ evidence }),
  ),
  durable(
    'turn.resolved',
    'The lost turn ended as `interrupted`.',
    z.strictObject({ resolution, retried_by: id.optional() }),
  ),
  durable(
    'compression.started',
    'A summary is asked for. Nothing of the transcript has changed.',
    z.strictObject({
      compression_id: id,
      trigger,
      tokens_before: count,
      request_id: id.optional().describe('Of `session.compress`.'),
    }),
  ),
  durable(
    'compression.completed',
    'The transcript was compressed: read it again from a snapshot.',
    z.strictObject({
      compression_id: id,
      trigger,
      parent_transcript: id,
      child_transcript: id.describe('Equal to the parent when the compression was made in place.'),
      summary_message_id: count,
      tokens_before: count,
      tokens_after: count,
      model: z.string(),
      opens_breaker: z.boolean().describe('It was one too many within a few turns: the next ones wait.'),
      usage: usage.optional(),
    }),
  ),
  durable(
    'compression.failed',
    'The compression came to nothing; the transcript is as it was.',
    z.strictObject({ compression_id: id, failure, opens_breaker: z.boolean() }),
  ),
  durable(
    'window.learnt',
    'A provider stated the window of a model. It holds for every session from now on.',
    z.strictObject({
      provider: z.string(),
      model: z.string(),
      base_url: z.string().nullable(),
      window_tokens: count,
    }),
  ),
  durable(
    'event.omitted',
    'Stands for an event that is too large to be sent; its place in the sequence is kept.',
    z.strictObject({ type: z.string(), bytes: count }),
  ),
] as const;

export const liveEvents = [
  live('message.delta', 'The model says something. Dropped first when a connection is slow.'),
  live('reasoning.delta', 'The model thinks. Dropped first when a connection is slow.'),
  z
    .strictObject({
      type: z.literal('compression.progress'),
      ...header,
      admission_id: id.optional(),
      execution_generation: generation,
      payload: z.strictObject({
        compression_id: id,
        rung: z.string().describe('How much the plan keeps: `wide`, `narrow` or `inside`.'),
        model: z.string(),
        form: z.string().describe('How much of the transcript is shown: `whole`, `recent` or `ends`.'),
        request: count.describe('Counts the requests of this compression from 1.'),
      }),
    })
    .describe('A summary is asked for.'),
] as const;

export const connectionEvents = [
  z
    .strictObject({
      type: z.literal('gateway.ready'),
      at: instant,
      epoch: count,
      payload: z.strictObject({
        protocol: z.string(),
        version: z.string(),
        state: gatewayPhase,
        instance_id: id,
        store_id: id,
        principal: id,
        scopes: z.array(z.enum(scopes)),
        limits: connectionLimits,
      }),
    })
    .describe('The first frame of every connection.'),
  z
    .strictObject({
      type: z.literal('subscription.gap'),
      session_id: id,
      at: instant,
      epoch: count,
      payload: z.strictObject({
        last_seq: seq.describe('The last event that was sent: subscribe again after the last one that arrived.'),
      }),
    })
    .describe(
      'The connection was too slow, or the log unreadable, so this subscription has ended. The connection stays.',
    ),
] as const;

export const anyDurableEvent = z.discriminatedUnion('type', durableEvents);
export const anyEvent = z.discriminatedUnion('type', [...durableEvents, ...liveEvents, ...connectionEvents]);

export type DurableWireEvent = z.output<typeof anyDurableEvent>;
export type LiveWireEvent = z.output<(typeof liveEvents)[number]>;
export type WireEvent = z.output<typeof anyEvent>;
export type ReadyEvent = z.output<(typeof connectionEvents)[0]>;
