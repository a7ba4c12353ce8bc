/*
 * What the judge sees of the store and of the world: its own words for it. Nothing in this folder imports the program,
 * so that a fault in the program's types or rules can't be a fault of the judge as well.
 */

/** A row of `session_admissions`. */
export interface AdmissionRow {
  readonly admissionId: string;
  readonly inputId: string;
  readonly sessionId: string;
  readonly principalId: string;
  readonly seq: number;
  readonly position: number;
  readonly revision: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly delivery: string;
  /** What a steer is meant for. */
  readonly steers: { readonly generation: number; readonly ifOver: string } | null;
  /** The admission into whose turn a steer went. */
  readonly mergedInto: string | null;
  readonly requestDigest: string;
  readonly payloadDigest: string;
  readonly ownerEpoch: number | null;
  readonly executionGeneration: number | null;
  readonly boundary: string;
  readonly requeueCount: number;
  readonly promptMessageId: number | null;
  readonly stopRequested: object | null;
  readonly evidence: { readonly boundary: string; readonly openToolCalls: readonly string[] } | null;
  readonly failure: { readonly reason: string } | null;
  readonly resolution: { readonly action: string; readonly by: string } | null;
  readonly retriedBy: string | null;
}

/** A row of `messages`. */
export interface MessageRow {
  readonly active: boolean;
  readonly message: {
    readonly id: number;
    readonly originId: number;
    readonly role: string;
    readonly kind: string;
    readonly text: string;
    readonly tokens: number;
    readonly admissionId: string | null;
    readonly toolCalls: readonly { readonly id: string; readonly name: string }[];
    readonly toolCallId: string | null;
    readonly partial: boolean;
  };
}

/** A transcript's row of `sessions`. */
export interface TranscriptRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly endedAt: string | null;
  readonly endReason: string | null;
}

/** A row of `approvals`. */
interface ApprovalRow {
  readonly approvalId: string;
  readonly admissionId: string;
  readonly resolution: { readonly decision: string; readonly by: string } | null;
}

/** A row of `session_events`. */
export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly epoch: number;
  readonly admissionId: string | null;
  readonly executionGeneration: number | null;
  /** Of `session.created`. */
  readonly profile?: {
    readonly title: string | null;
    readonly model: string;
    readonly forkedFrom: { readonly sessionId: string; readonly messageId: number | null } | null;
  };
  /** Of `session.updated`. */
  readonly changes?: SessionChanges;
  /** Of `admission.queued`. */
  readonly admission?: {
    readonly inputId: string;
    readonly principalId: string;
    readonly position: number;
    readonly delivery: string;
  };
  /** Of `admission.queued` and `admission.edited`. */
  readonly payload?: { readonly text: string };
  /** Of the `admission.queued` of a retry. */
  readonly payloadFrom?: string;
  /** Of `admission.moved`. */
  readonly position?: number;
  /** Of `window.learnt`. */
  readonly model?: { readonly model: string } | string;
  readonly windowTokens?: number;
  /** Of `message.appended`. */
  readonly step?: number;
  readonly message?: { readonly id: number; readonly kind: string; readonly text?: string };
  /** Of `tool.started` and `tool.finished`. */
  readonly callId?: string;
  /** Of `approval.requested` and `approval.resolved`. */
  readonly approvalId?: string;
  readonly decision?: string;
  readonly by?: string;
  /** Of `turn.settled`. */
  readonly outcome?: string;
  readonly failure?: { readonly reason: string } | null;
  /** Of `compression.started`, `compression.completed` and `compression.failed`. */
  readonly compressionId?: string;
  readonly trigger?: string;
  /** Of one that was started by hand. */
  readonly request?: { readonly principalId: string; readonly requestId: string };
  /** Of `session.held`. */
  readonly hold?: { readonly reason: string };
}

/** What an update sets; what is left out stays. */
export interface SessionChanges {
  readonly title?: string | null;
  readonly model?: { readonly model: string };
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

/** What belongs to a session as a whole. */
export interface SessionRow {
  readonly seq: number;
  readonly revision: number;
  readonly executionGeneration: number;
  readonly held: boolean;
  /** When the hold ends by itself. */
  readonly heldUntil: string | null;
  readonly tipId: string;
  readonly title: string | null;
  readonly model: string;
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly deleted: boolean;
  /** The compression that has begun and has no end yet. */
  readonly openCompression: { readonly compressionId: string; readonly epoch: number } | null;
}

/** The committed rows, as a reader outside of every process sees them. */
export interface StoreView {
  epoch(): number;
  sessionIds(): Iterable<string>;
  session(sessionId: string): SessionRow | null;
  admissions(sessionId: string): ReadonlyMap<string, AdmissionRow>;
  transcripts(sessionId: string): readonly TranscriptRow[];
  /** Oldest first. */
  approvals(sessionId: string): readonly ApprovalRow[];
  messages(transcriptId: string): ReadonlyMap<number, MessageRow>;
  /** What is left of the log: of a deleted session its last event. */
  events(sessionId: string): readonly EventRow[];
  /** The text of an admission's prompt as it would run now; null when it was deleted. */
  prompt(admissionId: string): string | null;
}

/** What the judge knows of a process. */
export interface ProcessView {
  readonly name: string;
  readonly epoch: number;
  readonly draining: boolean;
}

/** What was configured: the limits that must be kept. */
export interface JudgedLimits {
  readonly maxQueuedPerSession: number;
  readonly maxLostStarts: number;
  readonly maxConcurrentTurns: number;
  readonly maxSteps: number;
  readonly maxAttempts: number;
  /** Which calls wait for an approval: none, those on `b.txt`, all, or no call is allowed. */
  readonly approvals: 'none' | 'some' | 'all' | 'never';
  readonly maxOpenApprovals: number;
  readonly onOutage: 'hold' | 'continue';
  readonly onUnknown: 'hold' | 'discard';
  readonly windowTokens: number;
  /** The window of the smaller one of each session's two models. */
  readonly smallWindowTokens: number;
  /** What the schemas of the tools cost in each request. */
  readonly toolTokens: number;
  /** Whether anybody has stated the window. */
  readonly windowIsKnown: boolean;
}

/** A message of a request as the model server receives it. */
export interface SentMessage {
  readonly role: string;
  readonly text: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly toolCallId?: string;
}

/** One request to the model server and what it brought. */
export interface Exchange {
  readonly number: number;
  readonly process: ProcessView;
  readonly purpose: string;
  readonly model: string;
  /** The session whose model was asked; null when the model is not a session's own. */
  readonly sessionId: string | null;
  /** The turn that the process says it runs: of its newest acknowledged claim in this session. */
  readonly turn: { readonly admissionId: string; readonly executionGeneration: number } | null;
  readonly messages: readonly SentMessage[];
  readonly toolCount: number;
  /** What the server has said so far. */
  readonly said: string[];
  end: ExchangeEnd | null;
}

export type ExchangeEnd =
  | {
      readonly kind: 'finished';
      readonly finishReason: string;
      readonly toolCalls: number;
      /** Input and output together, as far as the server says; 0 when it doesn't. */
      readonly reportedTokens: number;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** Whether it may be tried again in the same turn. */
      readonly passes?: boolean | undefined;
      readonly retryAfterMs?: number | undefined;
      /** The window that the server stated. */
      readonly windowTokens?: number | undefined;
    };
