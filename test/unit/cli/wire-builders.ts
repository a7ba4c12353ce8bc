import type { WireMessage } from '../../../src/protocol/message.ts';
import type { WireReceipt } from '../../../src/protocol/receipt.ts';
import type { WireSessionSummary, WireSnapshot } from '../../../src/protocol/snapshot.ts';

/* What a gateway answers, with a default for every field. */

const at = '2030-01-01T00:00:00.000Z';

export function aReceipt(fields: Partial<WireReceipt> = {}): WireReceipt {
  return {
    admission_id: 'a1',
    session_id: 's1',
    input_id: 'i1',
    sequence: 1,
    ahead: 0,
    status: 'queued',
    outcome: null,
    execution_generation: null,
    revision: 0,
    duplicate: false,
    blocked_by: [],
    accepted_at: at,
    ...fields,
  };
}

export const completed = { status: 'terminal', outcome: 'completed', execution_generation: 1 } as const;

export const lost: Partial<WireReceipt> = {
  status: 'unknown',
  execution_generation: 7,
  evidence: {
    boundary: 'tool',
    owner_epoch: 1,
    started_at: '2030-01-01T00:00:01.000Z',
    lost_at: '2030-01-01T00:00:09.000Z',
    step: 2,
    open_tool_calls: ['send_mail'],
  },
};

export function aMessage(fields: Partial<WireMessage> = {}): WireMessage {
  return {
    id: 2,
    origin_id: 2,
    role: 'assistant',
    kind: 'answer',
    text: 'The answer.',
    partial: false,
    admission_id: 'a1',
    tokens: 3,
    at,
    ...fields,
  };
}

const profile = {
  title: 'A title',
  source: 'cli',
  provider: 'demo',
  model: 'demo',
  base_url: null,
  cwd: null,
  toolsets: [],
  forked_from: null,
  created_at: at,
};

export function aSnapshot(fields: Partial<WireSnapshot> = {}): WireSnapshot {
  return {
    session_id: 's1',
    stored_session_id: 't2',
    ...profile,
    messages: [],
    more_messages: false,
    pending: [],
    running: null,
    partial: null,
    approvals: [],
    hold: null,
    blocked_by: [],
    revision: 0,
    archived: false,
    pinned: false,
    execution_generation: 0,
    epoch: 1,
    store_id: 'store',
    last_seq: 1,
    usage: null,
    context: {
      tokens: 100,
      local_tokens: 100,
      reported_tokens: null,
      window_tokens: 1_000,
      window_source: 'configured',
      reserve_tokens: 100,
      reserve_source: 'configured',
      trigger_tokens: 800,
      trigger_source: 'threshold',
      compression_enabled: true,
      breaker_open_until: null,
      breaker_reason: null,
      breaker_failures: 0,
    },
    ...fields,
  };
}

export function aSummary(fields: Partial<WireSessionSummary> = {}): WireSessionSummary {
  return {
    session_id: 's1',
    stored_session_id: 't2',
    ...profile,
    revision: 0,
    archived: false,
    pinned: false,
    execution_generation: 0,
    transcripts: 2,
    compressions: 1,
    message_count: 12,
    queued: 0,
    started: 0,
    unknown: 0,
    held: false,
    last_seq: 1,
    updated_at: at,
    ...fields,
  };
}
