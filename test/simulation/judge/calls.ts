/* What clients ask and hear, in the judge's words. */
import type { AdmissionRow } from './rows.ts';

export interface Asked {
  readonly principalId: string;
  /** Any id of the session's lineage. */
  readonly address: string;
  /** The session's own id. */
  readonly sessionId: string;
  /** The session's newest sequence number when the request arrived. */
  readonly sinceSeq: number;
  /** The newest sequence number that its process had told anybody by then. */
  readonly toldSeq: number;
  /** Whether somebody had been told that their deletion of the session is done. */
  readonly deletionAnswered: boolean;
}

export type Heard<R> =
  | { readonly kind: 'done'; readonly reply: R }
  | {
      readonly kind: 'refused';
      readonly refusal: { readonly reason: string; readonly approval?: ResponseView['approval'] | null };
    }
  | { readonly kind: 'unavailable'; readonly outcomeUnknown: boolean };

/** What a compression by hand is answered with. */
export type HeardByHand =
  | { readonly kind: 'compressed' | 'failed'; readonly record: { readonly compressionId: string } }
  | { readonly kind: 'nothing_to_compress' | 'request_conflict' | 'unavailable' }
  | { readonly kind: 'refused'; readonly refusal: { readonly reason: string } };

export interface ReceiptView {
  readonly admission: AdmissionRow;
  readonly ahead: number;
  readonly duplicate: boolean;
  readonly blockedBy: readonly string[];
}

export interface ResponseView {
  readonly approval: {
    readonly approvalId: string;
    readonly resolution: { readonly decision: string; readonly by: string };
  };
  readonly duplicate: boolean;
}

export interface SnapshotView {
  readonly state: {
    readonly seq: number;
    readonly executionGeneration: number;
    readonly lineage: { readonly tipId: string };
  };
  readonly messages: readonly { readonly id: number }[];
  readonly moreMessages: boolean;
  readonly approvals: readonly { readonly approvalId: string }[];
  readonly pending: readonly {
    readonly admission: AdmissionRow;
    readonly content: { readonly text: string } | null | undefined;
  }[];
  readonly partial: {
    readonly executionGeneration: number;
    readonly step: number;
    readonly text: string;
    readonly offset: number;
  } | null;
}
