import type { Admission, PromptPayload } from '../domain/admission/admission.ts';
import type { AdmissionKey } from '../domain/session/commands.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { ModelAddress, SessionState } from '../domain/session/state.ts';
import type { Failure } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { Message } from '../domain/transcript/message.ts';

/**
 * The durable truth about sessions: the one outbound port that everything stands on.
 *
 * Promises, which the contract suite checks on every adapter:
 * - An append is atomic: all its events and every table that they change, or nothing.
 * - A committed append is durable before the promise resolves.
 * - Appends are applied in the order in which they were called.
 * - A refusal is an ordinary value, changes nothing, and touches no other append.
 * - `load` equals the fold of `evolve` over the session's events, as long as the session isn't deleted.
 * - With `session.deleted` go messages, payloads and events, and stay ids, digests, outcomes and that event.
 * - After `takeOwnership` every append of an older epoch is refused with `stale_epoch`.
 */
export interface Ledger {
  /** Raises the epoch and makes the caller the owner. */
  takeOwnership(owner: { readonly instanceId: string; readonly now: string }): Promise<Ownership>;

  append(request: AppendRequest): Promise<AppendResult>;

  /** The decider's whole state, or null where no session has this id. Takes the session's own id only. */
  load(sessionId: string): Promise<SessionState | null>;

  /** The session to which a transcript belongs, and whose it is; any id of a lineage works. */
  sessionOf(transcriptId: string): Promise<OwnedSession | null>;

  /** The session that a principal created with this request id. */
  findCreated(key: { readonly principalId: string; readonly requestId: string }): Promise<CreatedSession | null>;

  findAdmission(sessionId: string, key: AdmissionKey): Promise<Admission | null>;

  /** The prompt as it is stored, with the digest that it had when it was stored. */
  readPayload(admissionId: string): Promise<StoredPayload | null>;

  /**
   * The active messages of a transcript whose id is greater than `afterId`, in order, with their content: the first page,
   * which holds no more than `maxPageCharacters` beyond its first message. What is left follows after its last id, and
   * is read as it is then.
   */
  readTranscript(transcriptId: string, afterId: number): Promise<readonly Message[]>;

  /**
   * Every session with an admission that is not terminal, a compression that is open, or a hold that ends by itself,
   * oldest waiting admission first. Its cost depends on their number and not on the number of sessions.
   */
  unfinished(): Promise<readonly string[]>;

  /** What was last learnt of each model's window. */
  learntWindows(): Promise<readonly LearntWindow[]>;

  /** The compression by hand that a principal started in a session with this request id. */
  findCompression(key: CompressionKey): Promise<CompressionRecord | null>;
}

/** The window of a model as its provider stated it. */
export interface LearntWindow {
  readonly model: ModelAddress;
  readonly windowTokens: number;
  readonly learntAt: string;
}

export interface CompressionKey {
  readonly sessionId: string;
  readonly principalId: string;
  readonly requestId: string;
}

/** What became of a compression by hand. */
export interface CompressionRecord {
  readonly compressionId: string;
  readonly requestDigest: string;
  readonly executionGeneration: number;
  readonly status: 'started' | 'completed' | 'failed';
  readonly tokensBefore: number;
  readonly tokensAfter: number | null;
  /** The transcript that it made, or in which it was made. */
  readonly childTranscript: string | null;
  readonly model: string | null;
  readonly usage: Usage | null;
  readonly failure: Failure | null;
}

export interface Ownership {
  readonly epoch: number;
  readonly storeId: string;
  /** Greater than every id that the store has ever given out. */
  readonly nextMessageId: number;
  readonly nextAdmissionSeq: number;
}

export interface AppendRequest {
  readonly sessionId: string;
  /** The sequence number of the newest event that the caller knows; 0 creates the session. */
  readonly expectedSeq: number;
  readonly epoch: number;
  /** At least one; their sequence numbers follow `expectedSeq` without a gap. */
  readonly events: readonly SessionEvent[];
}

export type AppendResult =
  | { readonly kind: 'committed' }
  /** Somebody else has appended: the events after `expectedSeq`, to be evolved before deciding again. */
  | { readonly kind: 'stale'; readonly events: readonly SessionEvent[] }
  /** Another owner has taken the store over. */
  | { readonly kind: 'stale_epoch'; readonly epoch: number }
  /** Some input ids of this append exist already: all of them, as they are stored. */
  | { readonly kind: 'duplicate'; readonly admissions: readonly Admission[] }
  /** The principal has already created a session with this request id. */
  | { readonly kind: 'request_taken'; readonly created: CreatedSession }
  /** A message whose content the append takes over is not there: its session was deleted meanwhile. */
  | { readonly kind: 'content_gone' };

export interface OwnedSession {
  readonly sessionId: string;
  readonly principalId: string;
}

export interface CreatedSession {
  readonly sessionId: string;
  readonly requestDigest: string;
}

export interface StoredPayload {
  readonly payload: PromptPayload;
  readonly payloadDigest: string;
}

/**
 * The storage failed.
 *
 * `full` and `busy`: nothing was written and a later try may succeed. `too_large`: what was to be stored or read can't be
 * handed over in one piece; nothing was written, and a later try fails as well. `io` and `corrupt`: whether the append
 * was written is unknown; nothing may be retried by this process, which must stop.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly kind: 'full' | 'busy' | 'too_large' | 'io' | 'corrupt';

  constructor(kind: StorageError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }

  get outcomeUnknown(): boolean {
    return this.kind === 'io' || this.kind === 'corrupt';
  }

  get retryable(): boolean {
    return this.kind === 'full' || this.kind === 'busy';
  }
}
