import { z } from 'zod';
import { count, generation, id, instant, pageSize, sessionId } from './fields.ts';
import { defineMethod } from './method.ts';

export const approvalAnswer = z.enum(['approve', 'deny']);

/** How a request for approval ended. */
export const approvalResolution = z.strictObject({
  decision: z
    .enum(['approved', 'denied', 'expired', 'closed'])
    .describe('`expired`: nobody answered in time. `closed`: its turn went no further, as `reason` says.'),
  by: z.string().describe('Who answered, or stopped the turn; `gateway` where nobody did.'),
  reason: z.enum(['stop_requested', 'turn_ended', 'owner_lost']).optional(),
  at: instant,
});
export type WireApprovalResolution = z.output<typeof approvalResolution>;

/** A tool call that waits for an answer. Its tool has not been started. */
export const openApproval = z.strictObject({
  approval_id: id,
  session_id: id,
  admission_id: id,
  execution_generation: generation,
  message_id: count.describe('The message that asks for the call.'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().nullable().describe('As the tool would get them, in JSON; null when the content was deleted.'),
  truncated: z.literal(true).optional().describe('The arguments were cut.'),
  options: z.array(approvalAnswer),
  requested_at: instant,
  expires_at: instant,
});
export type WireOpenApproval = z.output<typeof openApproval>;

export const approvalRespond = defineMethod({
  name: 'approval.respond',
  summary:
    'Answers a request for approval. The first answer wins, and every client hears it as `approval.resolved`; its sender may ' +
    'repeat it for ever, and any other answer is an `approval_closed` that says what was decided. An approved call starts with ' +
    'the answer; a denied one gets a result that says so, and the turn goes on.',
  scope: 'write',
  params: z.strictObject({ session_id: sessionId, approval_id: id, answer: approvalAnswer }),
  result: z.strictObject({
    session_id: id,
    approval_id: id,
    call_id: z.string(),
    name: z.string(),
    resolution: approvalResolution,
    duplicate: z.boolean().describe('Whether the same answer had been given before.'),
  }),
  errors: ['not_found', 'approval_closed'],
  order: 'arrival',
});

export const approvalList = defineMethod({
  name: 'approval.list',
  summary:
    "Answers the tool calls that wait for an approval, oldest first: of one session, or of all the caller's sessions.",
  scope: 'read',
  params: z.strictObject({ session_id: sessionId.optional(), limit: pageSize(100, 200) }),
  result: z.strictObject({
    approvals: z.array(openApproval),
    more: z.boolean().describe('Whether more than `limit` wait.'),
  }),
  errors: ['not_found'],
  order: 'any',
});
