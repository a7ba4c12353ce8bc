import type { Admission, AdmissionStatus, PromptPayload } from '../domain/admission/admission.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { SessionProfile } from '../domain/session/state.ts';
import type { Message } from '../domain/transcript/message.ts';

/**
 * Reads that decide nothing: lists, pages, the queue. They see every commit that was acknowledged before the call.
 * Every page is bounded by its `limit`, and no read stays open between calls.
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

  /** The session's admissions with their payloads, in queue order; `open` ones only unless `all` is asked for. */
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

  /** The newest `limit` active messages of a transcript whose id is smaller than `before`, in order. */
  messagesBefore(page: {
    readonly transcriptId: string;
    readonly before: number | null;
    readonly limit: number;
  }): Promise<MessagePage>;

  /**
   * The durable events with a sequence number greater than `afterSeq`, in order. A `message.appended` brings its
   * message with its content, as it is stored. Of a deleted session only the last event is left.
   */
  events(page: { readonly sessionId: string; readonly afterSeq: number; readonly limit: number }): Promise<EventPage>;

  /** Counts for the gateway's status. */
  counts(): Promise<StoreCounts>;

  /** The admissions that wait for a decision of a person, oldest first. */
  unknownAdmissions(limit: number): Promise<readonly AdmissionWithPayload[]>;
}

export interface SessionSummary {
  readonly sessionId: string;
  readonly tipId: string;
  readonly profile: SessionProfile;
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

export interface AdmissionWithPayload {
  readonly admission: Admission;
  /** Null when the prompt's content was deleted. */
  readonly payload: PromptPayload | null;
}

export interface AdmissionPage {
  readonly admissions: readonly AdmissionWithPayload[];
  readonly next: number | null;
}

export interface MessagePage {
  readonly messages: readonly Message[];
  /** Whether older messages exist in this transcript. */
  readonly more: boolean;
}

export interface EventPage {
  readonly events: readonly SessionEvent[];
  /** The newest sequence number of the session. */
  readonly lastSeq: number;
}

export interface StoreCounts {
  readonly sessions: number;
  readonly admissions: Readonly<Record<AdmissionStatus, number>>;
}
