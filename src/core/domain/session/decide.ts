import { decideCancel } from '../admission/cancel.ts';
import { decideEdit } from '../admission/edit.ts';
import { decideMove } from '../admission/move.ts';
import { decideReceipt } from '../admission/receipt-command.ts';
import { decideResolveUnknown } from '../admission/resolve-unknown.ts';
import { decideMergeSteers, decideSteer } from '../admission/steer.ts';
import { decideSubmit } from '../admission/submit.ts';
import { decideExpireApproval, decideRespondApproval } from '../approval/resolve-approval.ts';
import {
  decideCompressByHand,
  decideFailCompression,
  decideRotate,
  decideStartCompression,
} from '../lineage/compress.ts';
import { decideAppend, decideDispatch, decideFinishCall } from '../turn/advance.ts';
import { decideClaim } from '../turn/claim.ts';
import { decideInterrupt } from '../turn/interrupt.ts';
import { decideRecover } from '../turn/recover.ts';
import { decideSettle } from '../turn/settle.ts';
import type { AdmissionKey, Command, CommandKind, CopiedMessage, ReplyOf } from './commands.ts';
import { accepted, refused, sessionEvent } from './decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from './decision.ts';
import { metaOf } from '../transcript/message.ts';
import { evolve } from './evolve.ts';
import type { SessionEvent } from './events.ts';
import { decideDelete } from './delete.ts';
import { decideHold, decideRelease } from './hold.ts';
import type { Refusal } from './refusal.ts';
import { decideUpdate } from './update.ts';
import type { SessionState } from './state.ts';

/** What a command leads to: events with the state after them and the answer, or a reason why nothing changes. */
export type Decision<R> =
  | {
      readonly kind: 'accepted';
      readonly events: readonly SessionEvent[];
      readonly state: SessionState;
      readonly reply: R;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'needs_known'; readonly key: AdmissionKey };

/**
 * Decides one command on one state. Pure: equal arguments give equal decisions.
 *
 * `state` is null for a session that doesn't exist; then everything but `create` is refused with `not_found`.
 */
export function decide<K extends CommandKind>(
  sessionId: string,
  state: SessionState | null,
  command: Command<K>,
  context: DecideContext,
): Decision<ReplyOf<K>> {
  const verdict = verdictOn(state, command, context);
  if (verdict.kind !== 'accepted') return verdict;
  const seq = state?.seq ?? 0;
  const events = verdict.events.map((event, index): SessionEvent => ({
    ...event,
    sessionId,
    seq: seq + index + 1,
    at: context.now,
    epoch: context.epoch,
  }));
  const after = events.reduce<SessionState | null>(evolve, state);
  if (after === null) return { kind: 'refused', refusal: { reason: 'not_found', what: 'session' } };
  return { kind: 'accepted', events, state: after, reply: verdict.reply(after) };
}

function verdictOn<K extends CommandKind>(
  state: SessionState | null,
  command: Command<K>,
  context: DecideContext,
): Verdict<ReplyOf<K>> {
  if (command.kind === 'create')
    return decideCreate(state, command as Command<'create'>, context) as Verdict<ReplyOf<K>>; // K is 'create'
  if (state === null) return refused({ reason: 'not_found', what: 'session' });
  if (state.deletedAt !== null && !survivesDeletion.has(command.kind)) {
    return refused({ reason: 'not_found', what: 'session' });
  }
  const decider: Decider<Exclude<K, 'create'>> = deciders[command.kind as Exclude<K, 'create'>]; // 'create' is behind us
  return decider(state, command as Command<Exclude<K, 'create'>>, context); // K is not 'create' here
}

/** What is still answered when a session was deleted: receipts of known input ids, and a repeat of the deletion. */
const survivesDeletion: ReadonlySet<CommandKind> = new Set<CommandKind>(['submit', 'steer', 'receipt', 'delete']);

type Decider<K extends CommandKind> = (
  state: SessionState,
  command: Command<K>,
  context: DecideContext,
) => Verdict<ReplyOf<K>>;

const deciders: { readonly [K in Exclude<CommandKind, 'create'>]: Decider<K> } = {
  submit: decideSubmit,
  steer: decideSteer,
  receipt: decideReceipt,
  cancel: decideCancel,
  edit: decideEdit,
  move: decideMove,
  interrupt: decideInterrupt,
  resolve_unknown: decideResolveUnknown,
  hold: decideHold,
  release: decideRelease,
  update: decideUpdate,
  delete: decideDelete,
  claim: decideClaim,
  dispatch: decideDispatch,
  append: decideAppend,
  finish_call: decideFinishCall,
  respond_approval: decideRespondApproval,
  expire_approval: decideExpireApproval,
  merge_steers: decideMergeSteers,
  settle: decideSettle,
  start_compression: decideStartCompression,
  compress_by_hand: decideCompressByHand,
  rotate: decideRotate,
  fail_compression: decideFailCompression,
  learn_window: decideLearnWindow,
  recover: decideRecover,
};

function decideLearnWindow(_state: SessionState, { model, windowTokens }: Command<'learn_window'>): Verdict<null> {
  return accepted([sessionEvent({ type: 'window.learnt', model, windowTokens })], () => null);
}

function decideCreate(state: SessionState | null, command: Command<'create'>, context: DecideContext): Verdict<null> {
  if (state !== null) return refused({ reason: 'request_conflict', sessionId: state.sessionId });
  const { profile, messages = [] } = command;
  const copies = messages.map((message, index) => copyOf(message, context.nextMessageId + index));
  return accepted([sessionEvent({ type: 'session.created', profile }), ...copies], () => null);
}

/**
 * A message that a fork takes over. It is the fork's own: no admission of the other session is known here. The ledger
 * copies the content, which may be more than anybody should hold at once.
 */
function copyOf(message: CopiedMessage, id: number): UnnumberedEvent {
  return sessionEvent({
    type: 'message.appended',
    message: { ...metaOf(message), id, originId: id, admissionId: null },
    contentFrom: message.id,
    boundary: null,
    step: 0,
    contextTokens: null,
    answeredBy: message.answeredBy,
  });
}
