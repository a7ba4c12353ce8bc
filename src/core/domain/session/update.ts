import { receiptOf } from '../admission/receipt.ts';
import type { Command } from './commands.ts';
import { accepted, refused, sessionEvent } from './decision.ts';
import type { Verdict } from './decision.ts';
import { addressOf, isSameModel, startedAdmission } from './state.ts';
import type { ModelAddress, SessionState } from './state.ts';

/** What an update sets; what is left out stays. The three parts of a model come together. */
export interface SessionChanges {
  readonly title?: string | null;
  readonly model?: ModelAddress;
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

/** What an update asks for. */
export interface AskedChanges extends Omit<SessionChanges, 'model'> {
  readonly model?: ModelChange;
}

/** Another model. What is left out stays; another provider comes with its own address. */
export interface ModelChange {
  readonly provider?: string;
  readonly model: string;
  /** Null: wherever the provider is asked when nobody names an address. */
  readonly baseUrl?: string | null;
  /** `baseUrl` is the address for which null stands, so a session that has null has it already. */
  readonly isStandardAddress?: boolean;
}

/**
 * Changes what a session is called, which model it uses, and how lists show it. The model of a turn that runs stays what
 * it is: a half-finished answer is never continued by another model.
 */
export function decideUpdate(state: SessionState, command: Command<'update'>): Verdict<{ revision: number }> {
  const { revision, changes, by, ifUntitled = false } = command;
  if (revision !== null && revision !== state.revision) {
    return refused({ reason: 'revision_conflict', revision: state.revision, receipt: null });
  }
  const effective = ifUntitled && state.profile.title !== null ? {} : effectiveChanges(state, changes);
  const turn = effective.model === undefined ? undefined : startedAdmission(state);
  if (turn !== undefined) return refused({ reason: 'session_busy', receipt: receiptOf(state, turn, false) });
  const events =
    Object.keys(effective).length === 0 ? [] : [sessionEvent({ type: 'session.updated', changes: effective, by })];
  return accepted(events, (after) => ({ revision: after.revision }));
}

/** The changes that change something, so that a repeat is no event. */
function effectiveChanges(state: SessionState, changes: AskedChanges): SessionChanges {
  const { title, archived, pinned } = changes;
  const { profile } = state;
  const current = addressOf(profile);
  const model = changes.model === undefined ? current : changedModel(current, changes.model);
  return {
    ...(title === undefined || title === profile.title ? {} : { title }),
    ...(isSameModel(model, current) ? {} : { model }),
    ...(archived === undefined || archived === state.archived ? {} : { archived }),
    ...(pinned === undefined || pinned === state.pinned ? {} : { pinned }),
  };
}

function changedModel(current: ModelAddress, change: ModelChange): ModelAddress {
  const { provider = current.provider, model, baseUrl, isStandardAddress = false } = change;
  if (provider !== current.provider) return { provider, model, baseUrl: baseUrl ?? null };
  const stays = baseUrl === undefined || (isStandardAddress && current.baseUrl === null);
  return { provider, model, baseUrl: stays ? current.baseUrl : baseUrl };
}

export function updatedSession(state: SessionState, changes: SessionChanges): SessionState {
  const { title, model, archived, pinned } = changes;
  return {
    ...state,
    revision: state.revision + 1,
    profile: { ...state.profile, ...(title === undefined ? {} : { title }), ...model },
    archived: archived ?? state.archived,
    pinned: pinned ?? state.pinned,
    // What another model counted says nothing about this one.
    usageAnchor: model === undefined ? state.usageAnchor : null,
  };
}
