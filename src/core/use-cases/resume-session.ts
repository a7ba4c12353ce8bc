import type { Admission, PromptPayload } from '../domain/admission/admission.ts';
import type { Message } from '../domain/transcript/message.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { StoredApproval } from '../ports/session-queries.ts';
import type { ContextReport } from '../domain/compression/context-size.ts';

/** What a running turn has said so far of a step that is not stored yet. */
export interface Partial {
  readonly executionGeneration: number;
  readonly step: number;
  /** The length of `text` in UTF-8 bytes: the offset of the next delta. */
  readonly offset: number;
  readonly text: string;
}

export interface PendingPrompt {
  readonly admission: Admission;
  /** A long text is cut. Undefined: the contents of those before it are enough for one snapshot. */
  readonly content: PromptPayload | null | undefined;
}

/** A session as it was at one instant: everything is of the state whose `seq` it carries. */
export interface SessionSnapshot {
  readonly state: SessionState;
  /** The newest page of the tip. */
  readonly messages: readonly Message[];
  readonly moreMessages: boolean;
  /** Every open admission, in queue order. */
  readonly pending: readonly PendingPrompt[];
  /** The open requests for approval, oldest first. */
  readonly approvals: readonly StoredApproval[];
  readonly partial: Partial | null;
  readonly context: ContextReport;
}

/**
 * Reads a session's snapshot. It is consistent: events with a sequence number up to `state.seq` are in it and no
 * later ones, so that a subscription from `state.seq` on has neither gap nor repeat (P12).
 */
export type ReadSnapshot = (input: {
  readonly sessionId: string;
  readonly messageLimit: number;
  /** Only messages with a smaller id. */
  readonly before: number | null;
}) => Promise<SessionSnapshot | null>;
