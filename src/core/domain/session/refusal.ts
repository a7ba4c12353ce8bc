import type { Receipt } from '../admission/receipt.ts';
import type { ResolvedApproval } from '../approval/approval.ts';

/** Why a command changes nothing. Every reason is stable and has one error code of its own on the wire. */
export type Refusal =
  | { readonly reason: 'not_found'; readonly what: 'session' | 'admission' | 'approval' | 'message' }
  | { readonly reason: 'admission_conflict'; readonly receipt: Receipt }
  | { readonly reason: 'request_conflict'; readonly sessionId: string }
  | { readonly reason: 'revision_conflict'; readonly revision: number; readonly receipt: Receipt | null }
  | { readonly reason: 'stale_generation'; readonly executionGeneration: number }
  | { readonly reason: 'unknown_execution'; readonly receipt: Receipt }
  | { readonly reason: 'already_resolved'; readonly receipt: Receipt }
  | { readonly reason: 'not_unknown'; readonly receipt: Receipt }
  | { readonly reason: 'not_queued'; readonly receipt: Receipt }
  | { readonly reason: 'turn_over'; readonly executionGeneration: number }
  /** Null: the session does not remember it, and the store may. */
  | { readonly reason: 'approval_closed'; readonly approval: ResolvedApproval | null }
  /** A turn is started or unknown (then with its receipt), or another compression is open. */
  | { readonly reason: 'session_busy'; readonly receipt: Receipt | null }
  | { readonly reason: 'not_claimable' }
  | { readonly reason: 'queue_full'; readonly limit: number }
  | { readonly reason: 'unsupported_parts'; readonly parts: readonly number[] }
  /** What the command would store can't be handed to the store in one piece. */
  | { readonly reason: 'too_large' }
  | { readonly reason: 'draining' }
  | { readonly reason: 'stop_requested' }
  | { readonly reason: 'tip_moved' }
  | { readonly reason: 'compression_open' };

export type RefusalReason = Refusal['reason'];
