import type {
  Admission,
  AdmissionOutcome,
  Boundary,
  Evidence,
  PromptPayload,
  Resolution,
} from '../admission/admission.ts';
import type { ApprovalAnswer, ApprovalResolution } from '../approval/approval.ts';
import type { CompressionTrigger } from '../lineage/lineage.ts';
import type { Failure } from '../model/failure.ts';
import type { Usage } from '../model/usage.ts';
import type { AnsweredBy, Message, MessageMeta } from '../transcript/message.ts';
import type { Hold, ModelAddress, SessionProfile } from './state.ts';
import type { SessionChanges } from './update.ts';

/** A row of the tip that a compression carries over as a copy. */
export interface CarriedMessage {
  /** The row that is copied. */
  readonly fromId: number;
  readonly message: MessageMeta;
}

/** `answered` and `failed` are the tool's own words; `broken` means that it came to no answer. */
export type ToolResultKind = 'answered' | 'failed' | 'broken';

/** The outcome of a compression that is committed with its rotation. */
export interface CompressionResult {
  readonly compressionId: string;
  readonly parentTranscript: string;
  /** Equal to `parentTranscript` when the compression was made in place. */
  readonly childTranscript: string;
  /** In a rotation the head's copies come first; in place the head stays where it is and this list is empty. */
  readonly head: readonly CarriedMessage[];
  readonly summary: Message | MessageMeta;
  readonly tail: readonly CarriedMessage[];
  /** The rows that leave the transcript: the middle, and in place the old rows of the tail. */
  readonly retired: readonly number[];
  readonly trigger: CompressionTrigger;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly model: string;
  readonly usage: Usage | null;
  /** Whether it was one too many, so that the next ones wait. */
  readonly opensBreaker: boolean;
}

/** Who asked for a compression, and under which idempotency key. */
export interface CompressionRequest {
  readonly principalId: string;
  readonly requestId: string;
  /** Of the parameters as they were given. */
  readonly requestDigest: string;
}

/**
 * What can happen to a session. An event that was just decided carries content (`payload`, a whole `Message`) for the
 * ledger to store; one that was read back from the log has only what `evolve` needs.
 */
export type SessionEventBody =
  | { readonly type: 'session.created'; readonly profile: SessionProfile }
  | { readonly type: 'session.held'; readonly hold: Hold }
  | { readonly type: 'session.released'; readonly by: string }
  | {
      readonly type: 'admission.queued';
      readonly admission: Admission;
      /** Absent for an event that was read back, and for a retry, whose payload is that of `payloadFrom`. */
      readonly payload?: PromptPayload;
      readonly payloadFrom?: string;
    }
  | { readonly type: 'session.updated'; readonly changes: SessionChanges; readonly by: string }
  /** The last event of a session. With it everything that a person or a model wrote is gone, older events included. */
  | { readonly type: 'session.deleted'; readonly by: string }
  | {
      readonly type: 'admission.edited';
      /** Absent for an event that was read back. */
      readonly payload?: PromptPayload;
      readonly payloadDigest: string;
    }
  | { readonly type: 'admission.moved'; readonly position: number }
  /** With a failure where the gateway itself withdrew it. */
  | { readonly type: 'admission.cancelled'; readonly failure?: Failure }
  /** A start was lost, or the turn of a steer is over: the prompt waits at its own place. */
  | { readonly type: 'admission.requeued'; readonly requeueCount: number }
  /** The text of a steer is in the turn of `into`: it is the message of this id, in the same append. */
  | { readonly type: 'admission.merged'; readonly into: string; readonly messageId: number }
  | { readonly type: 'turn.started' }
  | {
      readonly type: 'message.appended';
      readonly message: Message | MessageMeta;
      /** The stored message whose content this one takes over, instead of bringing it. Absent for an event that was read back. */
      readonly contentFrom?: number;
      /** The boundary that this append makes durable: the prompt's message opens `model`. */
      readonly boundary: Boundary | null;
      readonly step: number;
      /** The size of the context, input and output, that the provider reported with this message, if it is believed. */
      readonly contextTokens: number | null;
      /** The model that gave this answer: with fallbacks not always the session's own. Null on all else. */
      readonly answeredBy: AnsweredBy | null;
    }
  /** The intent of a call. It is durable before the tool starts, and it moves the boundary to `tool`. */
  | { readonly type: 'tool.started'; readonly callId: string; readonly name: string }
  /** The call has come to an end; its result is the message that follows in the same append. */
  | { readonly type: 'tool.finished'; readonly callId: string; readonly name: string; readonly result: ToolResultKind }
  /** A call of the message waits for somebody's answer. It is not started, and the boundary stays where it is. */
  | {
      readonly type: 'approval.requested';
      readonly approvalId: string;
      readonly messageId: number;
      readonly callId: string;
      readonly name: string;
      readonly options: readonly ApprovalAnswer[];
      readonly expiresAt: string;
    }
  /** What follows from it is in the same append: the start of the call, its result, or the end of the turn. */
  | ({
      readonly type: 'approval.resolved';
      readonly approvalId: string;
      readonly callId: string;
      readonly name: string;
    } & Omit<ApprovalResolution, 'at'>)
  | { readonly type: 'turn.stop_requested'; readonly by: string }
  | {
      readonly type: 'turn.settled';
      readonly outcome: Exclude<AdmissionOutcome, 'cancelled'>;
      readonly failure: Failure | null;
      readonly evidence: Evidence | null;
      readonly usage: Usage | null;
      /** Messages of this turn that leave the transcript: a paste too large must not brick the session. */
      readonly hidden: readonly number[];
    }
  | { readonly type: 'turn.lost'; readonly evidence: Evidence }
  | { readonly type: 'turn.resolved'; readonly resolution: Resolution; readonly retriedBy: string | null }
  | {
      readonly type: 'compression.started';
      readonly compressionId: string;
      readonly trigger: CompressionTrigger;
      readonly tokensBefore: number;
      /** Only of one that was started by hand, which raises the generation like a claim. */
      readonly request?: CompressionRequest;
    }
  | ({ readonly type: 'compression.completed' } & CompressionResult)
  | {
      readonly type: 'compression.failed';
      readonly compressionId: string;
      readonly failure: Failure;
      readonly usage: Usage | null;
      readonly opensBreaker: boolean;
    }
  /** A provider has stated how large a model's window is. It holds for every session from then on. */
  | { readonly type: 'window.learnt'; readonly model: ModelAddress; readonly windowTokens: number };

export interface SessionEventHeader {
  readonly sessionId: string;
  readonly seq: number;
  readonly at: string;
  readonly epoch: number;
  readonly admissionId: string | null;
  readonly executionGeneration: number | null;
}

export type SessionEvent = SessionEventHeader & SessionEventBody;
export type SessionEventType = SessionEventBody['type'];
