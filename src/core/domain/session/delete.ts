import { receiptOf } from '../admission/receipt.ts';
import { closeBreaker } from '../lineage/lineage.ts';
import type { Command } from './commands.ts';
import { accepted, refused, sessionEvent } from './decision.ts';
import type { DecideContext, Verdict } from './decision.ts';
import type { SessionProfile, SessionState } from './state.ts';

/** Removes what a settled session holds. Idempotent. What waits, runs or is unknown must be settled first. */
export function decideDelete(
  state: SessionState,
  command: Command<'delete'>,
  context: DecideContext,
): Verdict<{ deletedAt: string }> {
  const { deletedAt } = state;
  if (deletedAt !== null) return accepted([], () => ({ deletedAt }));
  const [first] = state.open;
  if (first !== undefined) return refused({ reason: 'session_busy', receipt: receiptOf(state, first, false) });
  if (state.lineage.open !== null) return refused({ reason: 'session_busy', receipt: null });
  return accepted([sessionEvent({ type: 'session.deleted', by: command.by })], () => ({ deletedAt: context.now }));
}

/** What is left: the identity of the session and of its transcripts. The admissions' own rows are not part of it. */
export function deletedSession(state: SessionState, at: string): SessionState {
  return {
    ...state,
    revision: state.revision + 1,
    deletedAt: at,
    profile: withoutContent(state.profile),
    hold: null,
    lineage: closeBreaker(state.lineage),
    messages: [],
    usageAnchor: null,
    runningCalls: [],
  };
}

function withoutContent(profile: SessionProfile): SessionProfile {
  return { ...profile, title: null, cwd: null, systemPrompt: null, systemPromptTokens: 0 };
}
