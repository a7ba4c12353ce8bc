import type { Admission } from '../domain/admission/admission.ts';
import { hasKey } from '../domain/admission/find.ts';
import { invariant } from '../domain/invariant.ts';
import type { AdmissionKey, CommandKind, SessionCommand } from '../domain/session/commands.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { Refusal } from '../domain/session/refusal.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Decision } from '../domain/session/decide.ts';
import type { Sent } from './sessions.ts';

/** A command that waits for its answer, with what the ledger has told of the admission that it names. */
export interface Waiting {
  command: SessionCommand;
  readonly answer: (sent: Sent<unknown>) => void;
}

/** Commands that were decided together, with the state to which their events lead. */
export interface DecidedRound {
  readonly kind: 'decided';
  readonly decisions: readonly Decision<unknown>[];
  readonly events: readonly SessionEvent[];
  readonly state: SessionState | null;
}

/** Whose work is tried again while the storage is full or busy: that of turns, never that of clients. */
export const isPersistent: Readonly<Record<CommandKind, boolean>> = {
  create: false,
  submit: false,
  steer: false,
  receipt: false,
  cancel: false,
  edit: false,
  move: false,
  interrupt: false,
  resolve_unknown: false,
  hold: false,
  release: false,
  update: false,
  delete: false,
  claim: true,
  dispatch: true,
  append: true,
  finish_call: true,
  respond_approval: false,
  expire_approval: true,
  merge_steers: true,
  settle: true,
  start_compression: true,
  rotate: true,
  fail_compression: true,
  compress_by_hand: false,
  learn_window: true,
  recover: true,
};

/** Nothing more is decided: whoever waits can't know what became of it. */
export function giveUp(waiting: readonly Waiting[]): void {
  for (const { answer } of waiting) answer(unavailable(true));
}

export function refuse(waiting: readonly Waiting[], refusal: Refusal): void {
  for (const { answer } of waiting) answer({ kind: 'refused', refusal });
}

export function unavailable(outcomeUnknown: boolean): Sent<never> {
  return { kind: 'unavailable', outcomeUnknown };
}

export function sentOf(decision: Decision<unknown> | undefined): Sent<unknown> {
  invariant(decision !== undefined && decision.kind !== 'needs_known', 'every command of a round is decided');
  return decision.kind === 'accepted' ? { kind: 'done', reply: decision.reply } : decision;
}

/** A command that names an admission which an earlier command of the round has ended is decided on what it has become. */
export function withEnded(command: SessionCommand, ended: readonly Admission[]): SessionCommand {
  if (ended.length === 0 || !('known' in command)) return command;
  const known = ended.find((admission) => hasKey(admission, keyOf(command))) ?? command.known;
  if (command.kind !== 'resolve_unknown') return { ...command, known };
  const knownRetry = ended.find(({ admissionId }) => admissionId === known?.retriedBy) ?? command.knownRetry;
  return { ...command, known, knownRetry };
}

/** What the ledger answered for a key, told to the commands that name it. */
export function tellOfKey(batch: readonly Waiting[], key: AdmissionKey, known: Admission | null): void {
  tell(batch, known, (other) => sameKey(key, other));
  tellOfRetry(batch, key, known);
}

/** Tells the commands that name an admission what the ledger knows of it. */
export function tell(batch: readonly Waiting[], known: Admission | null, names: (key: AdmissionKey) => boolean): void {
  for (const waiting of batch) {
    const { command } = waiting;
    if ('known' in command && names(keyOf(command))) waiting.command = { ...command, known };
  }
}

/** A repeated resolution is answered with the receipt of the retry that it made. */
function tellOfRetry(batch: readonly Waiting[], key: AdmissionKey, knownRetry: Admission | null): void {
  for (const waiting of batch) {
    const { command } = waiting;
    if (command.kind !== 'resolve_unknown') continue;
    const retriedBy = command.known?.retriedBy ?? null;
    if (retriedBy === null || !sameKey({ admissionId: retriedBy }, key)) continue;
    waiting.command = { ...command, knownRetry };
  }
}

export function keyOf(command: Extract<SessionCommand, { known: unknown }>): AdmissionKey {
  switch (command.kind) {
    case 'submit':
    case 'steer':
      return { inputId: command.inputId, principalId: command.principalId };
    case 'resolve_unknown':
      return { admissionId: command.admissionId };
    case 'receipt':
    case 'cancel':
    case 'edit':
    case 'move':
      return command.key;
  }
}

function sameKey(a: AdmissionKey, b: AdmissionKey): boolean {
  if ('admissionId' in a) return 'admissionId' in b && a.admissionId === b.admissionId;
  return 'inputId' in b && a.inputId === b.inputId && a.principalId === b.principalId;
}
