import type { Receipt } from '../admission/receipt.ts';

/** Why a command changes nothing. Every reason is stable and has one error code of its own on the wire. */
export type Refusal =
  | { readonly reason: 'not_found'; readonly what: 'session' | 'admission' | 'message' }
  | { readonly reason: 'admission_conflict'; readonly receipt: Receipt }
  | { readonly reason: 'request_conflict'; readonly sessionId: string }
  | { readonly reason: 'revision_conflict'; readonly revision: number; readonly receipt: Receipt | null }
  | { readonly reason: 'stale_generation'; readonly executionGeneration: number }
  | { readonly reason: 'unknown_execution'; readonly receipt: Receipt }
  | { readonly reason: 'already_resolved'; readonly receipt: Receipt }
  | { readonly reason: 'not_unknown'; readonly receipt: Receipt }
  | { readonly reason: 'not_queued'; readonly receipt: Receipt }
  | { readonly reason: 'turn_over'; readonly executionGeneration: number }
  | { readonly reason: 'not_claimable' }
  | { readonly reason: 'queue_full'; readonly limit: number }
  | { readonly reason: 'session_busy' }
  | { readonly reason: 'draining' }
  | { readonly reason: 'stop_requested' }
  | { readonly reason: 'tip_moved' }
  | { readonly reason: 'compression_open' };

export type RefusalReason = Refusal['reason'];
