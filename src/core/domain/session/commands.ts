import type { Admission, PromptPayload, ResolveAction, SteerTarget } from '../admission/admission.ts';
import type { Receipt } from '../admission/receipt.ts';
import type { ApprovalAnswer, ResolvedApproval } from '../approval/approval.ts';
import type { CompressionTrigger } from '../lineage/lineage.ts';
import type { Failure } from '../model/failure.ts';
import type { Usage } from '../model/usage.ts';
import type { QueuePlace } from '../admission/move.ts';
import type { AnsweredBy, MessageDraft, MessageMeta } from '../transcript/message.ts';
import type { CompressionRequest, ToolResultKind } from './events.ts';
import type { AskedChanges } from './update.ts';
import type { Hold, ModelAddress, SessionProfile } from './state.ts';

/**
 * The admission that a caller has read from the ledger for its id. `undefined`: nobody has looked; `null`: there is
 * none. The decider knows the open ones by itself and asks for a settled one only when its answer depends on it.
 */
export type Known = Admission | null | undefined;

/** How a client names an admission. */
export type AdmissionKey =
  { readonly admissionId: string } | { readonly inputId: string; readonly principalId: string };

/** The parts of a compression plan that the commit needs, as message ids. */
interface RotationPlan {
  readonly head: readonly number[];
  readonly middle: readonly number[];
  readonly tail: readonly number[];
}

/** What a turn was got ready for. */
export interface PreparedFor {
  /** Of the admission: an edit that puts an earlier text back is another one. */
  readonly revision: number;
  readonly model: ModelAddress;
  /** How many compressions the session had had. */
  readonly compressions: number;
}

interface NewPrompt {
  readonly admissionId: string;
  readonly inputId: string;
  readonly principalId: string;
  /** Of everything that the client's id stands for. */
  readonly requestDigest: string;
  readonly payload: PromptPayload;
  readonly payloadDigest: string;
  readonly known: Known;
}

/** A stored message, and who wrote it where that is known. */
export interface CopiedMessage extends MessageMeta {
  readonly answeredBy: AnsweredBy | null;
}

/** Everything that can be asked of a session. A key of the map is the command's `kind`. */
interface CommandFields {
  /** With `messages`, of which all are stored, the transcript begins with copies of them, in this order. */
  create: { readonly profile: SessionProfile; readonly messages?: readonly CopiedMessage[] };
  submit: NewPrompt;
  /** A prompt for the running turn of this generation. */
  steer: NewPrompt & { readonly executionGeneration: number; readonly ifOver: SteerTarget['ifOver'] };
  receipt: { readonly key: AdmissionKey; readonly known: Known };
  cancel: { readonly key: AdmissionKey; readonly revision: number | null; readonly known: Known };
  /** Gives a prompt that waits other content. Its identity stays: `requestDigest` is of what was submitted first. */
  edit: {
    readonly key: AdmissionKey;
    readonly revision: number | null;
    readonly payload: PromptPayload;
    readonly payloadDigest: string;
    readonly known: Known;
  };
  /** Gives a prompt that waits another place in the queue. */
  move: {
    readonly key: AdmissionKey;
    readonly revision: number | null;
    readonly to: QueuePlace;
    readonly known: Known;
  };
  interrupt: { readonly executionGeneration: number; readonly by: string };
  resolve_unknown: {
    readonly admissionId: string;
    readonly executionGeneration: number;
    readonly action: ResolveAction;
    readonly by: string;
    /** The id of the admission that `retry` makes. */
    readonly retryAdmissionId: string;
    readonly known: Known;
    /** The settled admission that an earlier `retry` made, for a repeat. */
    readonly knownRetry?: Known;
  };
  hold: { readonly hold: Omit<Hold, 'at'> };
  /** With `until` only the hold that ends at that instant is released: a timer never ends a later one. */
  release: { readonly by: string; readonly until: string | null };
  /** With `ifUntitled` only a session without a title is changed: a title that somebody gave is never replaced. */
  update: {
    readonly changes: AskedChanges;
    readonly revision: number | null;
    readonly by: string;
    readonly ifUntitled?: boolean;
  };
  delete: { readonly by: string };
  /**
   * Starts the head of the queue. With `prompt` the boundary `model` and the prompt's message join the same append. A
   * runner that has read the prompt and looked at the model says which: what was changed since is read again first.
   */
  claim: {
    readonly admissionId: string;
    readonly prompt: MessageDraft | null;
    readonly preparedFor?: PreparedFor;
  };
  /** Makes the boundary `model` durable with the prompt's message, just before the first request. */
  dispatch: { readonly executionGeneration: number; readonly prompt: MessageDraft };
  /**
   * Stores messages of a step that is not the last, with the intent of the calls that start now and the requests for
   * approval of those that wait. The calls are those of the first message.
   */
  append: {
    readonly executionGeneration: number;
    readonly messages: readonly MessageDraft[];
    readonly startedCalls: readonly { readonly callId: string; readonly name: string }[];
    readonly askedCalls: readonly { readonly approvalId: string; readonly callId: string; readonly name: string }[];
    /** How long each request for approval waits for an answer. */
    readonly approvalSeconds: number;
    readonly step: number;
    readonly contextTokens: number | null;
  };
  /** Stores the result of a call whose intent is stored. It is accepted after a stop request too: it is the truth. */
  finish_call: {
    readonly executionGeneration: number;
    readonly callId: string;
    readonly name: string;
    readonly result: ToolResultKind;
    readonly message: MessageDraft;
    readonly step: number;
  };
  /** The first answer wins; a later one is refused with what was decided. */
  respond_approval: { readonly approvalId: string; readonly answer: ApprovalAnswer; readonly by: string };
  /** The time of the request is over. */
  expire_approval: { readonly approvalId: string };
  /** Puts steers into the turn, behind everything that its last step has stored. */
  merge_steers: {
    readonly executionGeneration: number;
    readonly steers: readonly { readonly admissionId: string; readonly message: MessageDraft }[];
    readonly step: number;
  };
  settle: {
    readonly executionGeneration: number;
    readonly outcome: 'completed' | 'failed' | 'interrupted';
    readonly answer: MessageDraft | null;
    readonly step: number;
    readonly failure: Failure | null;
    readonly usage: Usage | null;
    readonly contextTokens: number | null;
    /** Whether an outage holds the queue instead of burning it. */
    readonly holdOnOutage: boolean;
    /** Whether the turn's prompt carries images or files. */
    readonly promptHasMedia?: boolean;
  };
  start_compression: {
    readonly compressionId: string;
    readonly trigger: CompressionTrigger;
    readonly executionGeneration: number;
    readonly tokensBefore: number;
  };
  /** Starts a compression by hand: it has a generation of its own, and nothing is claimed while it runs. */
  compress_by_hand: {
    readonly compressionId: string;
    readonly tokensBefore: number;
    readonly request: CompressionRequest;
  };
  rotate: {
    readonly compressionId: string;
    readonly executionGeneration: number;
    readonly plan: RotationPlan;
    /** The new transcript's id, or null to compress in place. */
    readonly childTranscript: string | null;
    readonly summary: MessageDraft;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly model: string;
    readonly usage: Usage | null;
  };
  fail_compression: {
    readonly compressionId: string;
    readonly failure: Failure;
    readonly usage: Usage | null;
    readonly opensBreaker: boolean;
  };
  /** Keeps what a provider has stated of a model's window. */
  learn_window: { readonly model: ModelAddress; readonly windowTokens: number };
  /** Puts right what a lost owner left behind. Its effects depend only on the state, so it may be repeated. */
  recover: { readonly onUnknown: 'hold' | 'discard' };
}

/** What each command answers when it is accepted. */
export interface CommandReplies {
  create: null;
  submit: Receipt;
  steer: Receipt;
  receipt: Receipt;
  cancel: Receipt;
  /** No admission: a compression by hand was stopped. */
  interrupt: { readonly executionGeneration: number; readonly admissionId: string | null };
  edit: Receipt;
  move: Receipt;
  resolve_unknown: { readonly receipt: Receipt; readonly retry: Receipt | null };
  hold: { readonly revision: number };
  release: { readonly revision: number };
  update: { readonly revision: number };
  delete: { readonly deletedAt: string };
  claim: { readonly executionGeneration: number };
  dispatch: null;
  append: null;
  finish_call: null;
  respond_approval: ResolvedApproval;
  expire_approval: null;
  merge_steers: { readonly merged: number };
  settle: { readonly outcome: 'completed' | 'failed' | 'interrupted' };
  start_compression: null;
  compress_by_hand: { readonly executionGeneration: number };
  rotate: null;
  fail_compression: null;
  learn_window: null;
  recover: { readonly requeued: number; readonly lost: number; readonly ended: number };
}

export type CommandKind = keyof CommandFields;
export type Command<K extends CommandKind> = { readonly kind: K } & CommandFields[K];
export type SessionCommand = { [K in CommandKind]: Command<K> }[CommandKind];
export type ReplyOf<K extends CommandKind> = CommandReplies[K];
