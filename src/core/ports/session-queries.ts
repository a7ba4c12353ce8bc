import type { Admission, AdmissionStatus, PromptPayload } from '../domain/admission/admission.ts';
import type { Approval, ApprovalResolution } from '../domain/approval/approval.ts';
import type { SearchTerms } from '../domain/search/terms.ts';
import type { Breaker, CompressionTrigger } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { CompressionResult, SessionEvent } from '../domain/session/events.ts';
import type { Hold, SessionProfile } from '../domain/session/state.ts';
import type { Message } from '../domain/transcript/message.ts';

/**
 * Reads that decide nothing: lists, pages, the queue. They see every commit that was acknowledged before the call.
 * Every page is bounded by its `limit` and by its content: it ends before the row with which it would hold more than
 * `maxPageCharacters`, but never without a row. No read stays open between calls.
 */
export interface SessionQueries {
  /** The principal's sessions, the one that was created last first. `before` is the `next` of the page before. */
  listSessions(page: {
    readonly principalId: string;
    /** Only those that are archived, or that are not; null: all. Deleted ones are never among them. */
    readonly archived: boolean | null;
    readonly limit: number;
    readonly before: string | null;
  }): Promise<SessionPage>;

  /** One row for a session, or null, also when it was deleted. Takes the session's own id. */
  findSession(sessionId: string): Promise<SessionSummary | null>;

  /** What a new turn of the session tells the model first, or null, also where there is no session. */
  systemPrompt(sessionId: string): Promise<string | null>;

  /**
   * The session's admissions with what their prompts say, in queue order; `open` ones only unless `all` is asked
   * for.
   */
  listAdmissions(page: {
    readonly sessionId: string;
    readonly include: 'open' | 'all';
    readonly limit: number;
    /**
     * Continue after this position. A retry shares the position of what it repeats: admissions that share one come in
     * one page, even if it gets longer than its limit.
     */
    readonly after: number | null;
  }): Promise<AdmissionPage>;

  /**
   * What a snapshot shows of a session beside its state, all of it as it was after the event `lastSeq`; null where there
   * is no session or it was deleted. Of the open transcript it has the newest `limit` active messages whose id is
   * smaller than `before`.
   */
  snapshot(page: {
    readonly sessionId: string;
    readonly before: number | null;
    readonly limit: number;
  }): Promise<SnapshotPage | null>;

  /**
   * The durable events with a sequence number greater than `afterSeq`, in order. A `message.appended` brings its
   * message with its content, as it is stored. Of a deleted session only the last event is left. Nothing is missing
   * between two pages of which the second begins after the last event of the first; a page is the last one when it has
   * come to `lastSeq`.
   */
  events(page: { readonly sessionId: string; readonly afterSeq: number; readonly limit: number }): Promise<EventPage>;

  /**
   * A page of what was ever said in a session, in the order of its log: each message once, also those that a compression
   * or a failure took out of the transcript, the border of each compression, and prompts that ended without ever
   * reaching the transcript. `before` reads backwards from an entry's `seq`, `after` forwards, neither: the newest page.
   * Of a deleted session nothing is left.
   */
  history(page: {
    readonly sessionId: string;
    readonly before: number | null;
    readonly after: number | null;
    readonly limit: number;
  }): Promise<HistoryPage>;

  /** The chain of a session's transcripts, root first, and the record of its newest compressions, oldest first. */
  lineage(sessionId: string): Promise<Lineage>;

  /** The events that change a transcript after `afterSeq`, in order, without content. */
  transcriptEvents(page: {
    readonly sessionId: string;
    readonly afterSeq: number;
    readonly limit: number;
  }): Promise<readonly SessionEvent[]>;

  /** Those of the messages that belong to the session, in any transcript, in the order of their ids: the first page. */
  messages(of: { readonly sessionId: string; readonly ids: readonly number[] }): Promise<readonly Message[]>;

  /**
   * Messages that hold all terms of a query, newest first, of the principal's sessions or of one of them. `before` is the
   * `next` of the page before. Copies and summaries are not searched: what they stand for is. It sees every commit that
   * was acknowledged before the call, unless `behind` says otherwise; a search never fails because of its index.
   */
  search(query: {
    readonly principalId: string;
    readonly sessionId: string | null;
    readonly terms: SearchTerms;
    readonly before: number | null;
    readonly limit: number;
  }): Promise<SearchPage>;

  /** Counts for the gateway's status. */
  counts(): Promise<StoreCounts>;

  /** The sessions whose breaker is open at `now`, the one that opens longest first. */
  openBreakers(page: { readonly now: string; readonly limit: number }): Promise<readonly OpenBreaker[]>;

  /** The sessions in which prompts wait under a hold, the one that was held first of all first. */
  heldQueues(limit: number): Promise<readonly HeldQueue[]>;

  /** The admissions that wait for a decision of a person, oldest first. */
  unknownAdmissions(limit: number): Promise<readonly Admission[]>;

  /** A request for approval, open or closed, or null. */
  findApproval(sessionId: string, approvalId: string): Promise<StoredApproval | null>;

  /**
   * The open requests of one session or of all sessions of a principal, oldest first, as many as `limit` says: who may
   * answer sees all of them. The arguments come as far as a page of them goes.
   */
  openApprovals(page: {
    readonly of: { readonly sessionId: string } | { readonly principalId: string };
    readonly limit: number;
  }): Promise<readonly StoredApproval[]>;
}

export interface StoredApproval extends Approval {
  readonly sessionId: string;
  /** As the model wrote them; null when the message's content was deleted, or with `argumentsLeftOut`. */
  readonly arguments: string | null;
  /** The arguments of the requests before it fill a page. */
  readonly argumentsLeftOut: boolean;
  /** Null while it is open. */
  readonly resolution: ApprovalResolution | null;
}

export interface SessionSummary {
  readonly sessionId: string;
  readonly tipId: string;
  /** Without the system prompt, which may be as large as a frame. */
  readonly profile: Omit<SessionProfile, 'systemPrompt'>;
  readonly revision: number;
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly executionGeneration: number;
  readonly transcripts: number;
  readonly compressions: number;
  /** The active messages of the tip. */
  readonly messageCount: number;
  readonly queued: number;
  readonly started: number;
  readonly unknown: number;
  readonly held: boolean;
  readonly lastSeq: number;
  /** The instant of the newest event. */
  readonly updatedAt: string;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Pass as `before` to go on, or null at the end. */
  readonly next: string | null;
}

export interface AdmissionWithContent {
  readonly admission: Admission;
  /** Null when it was deleted. */
  readonly content: PromptPayload | null;
}

export interface AdmissionPage {
  /** Of a prompt that is nothing but text the first `maxListedCharacters`. */
  readonly admissions: readonly AdmissionWithContent[];
  readonly next: number | null;
}

export interface SnapshotPage {
  /** The newest sequence number of the session. */
  readonly lastSeq: number;
  readonly messages: readonly Message[];
  /** Whether older messages exist in the transcript. */
  readonly moreMessages: boolean;
  /** The open admissions in queue order, as far as a page of them goes. */
  readonly pending: readonly PendingContent[];
  /** Every open request for approval, oldest first. */
  readonly approvals: readonly StoredApproval[];
}

export interface PendingContent {
  readonly admissionId: string;
  /** As in an `AdmissionPage`. */
  readonly content: PromptPayload | null;
}

export interface EventPage {
  readonly events: readonly SessionEvent[];
  /** The newest sequence number of the session. */
  readonly lastSeq: number;
}

/** A session that doesn't compress by itself for a while. */
export interface OpenBreaker extends Breaker {
  readonly sessionId: string;
}

export interface HeldQueue {
  readonly sessionId: string;
  readonly hold: Hold;
  readonly queued: number;
}

export interface StoreCounts {
  readonly sessions: number;
  readonly admissions: Readonly<Record<AdmissionStatus, number>>;
}

/** `seq` is that of the event that the entry stands for: the cursor of a page. */
export type HistoryEntry = { readonly seq: number; readonly at: string } & (
  | {
      readonly kind: 'message';
      readonly transcriptId: string;
      /** Whether the row is still part of its transcript: false after a compression in place, or when it was hidden. */
      readonly active: boolean;
      readonly message: Message;
    }
  /** A prompt that ended without reaching the transcript. */
  | ({ readonly kind: 'prompt' } & AdmissionWithContent)
  | {
      readonly kind: 'compression';
      readonly compression: Omit<CompressionResult, 'summary' | 'head' | 'tail' | 'retired' | 'opensBreaker'>;
      readonly summary: Message;
    }
);

export interface HistoryPage {
  /** In the order of the log, whichever way was read. */
  readonly entries: readonly HistoryEntry[];
  /** Whether there is more in the direction of reading. */
  readonly more: boolean;
}

export interface Lineage {
  readonly transcripts: readonly TranscriptRecord[];
  readonly compressions: readonly CompressionRecord[];
}

export interface TranscriptRecord {
  readonly id: string;
  readonly parentId: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly endReason: string | null;
  /** Its active messages. */
  readonly messageCount: number;
}

export interface CompressionRecord {
  readonly compressionId: string;
  readonly trigger: CompressionTrigger;
  readonly status: 'started' | 'completed' | 'failed';
  readonly parentTranscript: string;
  readonly childTranscript: string | null;
  readonly admissionId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number | null;
  readonly model: string | null;
  readonly usage: Usage | null;
  readonly failure: Failure | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly next: number | null;
  /** The index has not caught up in the time that a search may take: newer messages may be missing. */
  readonly behind: boolean;
}

export interface SearchHit {
  readonly sessionId: string;
  readonly title: string | null;
  readonly transcriptId: string;
  readonly message: Message;
}

/** How much of a prompt's text a list has at most, in UTF-16 units; no character is cut in two. */
export const maxListedCharacters = 66_000;

/** How many compressions a lineage lists. */
export const maxListedCompressions = 1_000;
