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
  if (state.open.length > 0 || state.lineage.open !== null) return refused({ reason: 'session_busy' });
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
    messages: [],
    usageAnchor: null,
    runningCalls: [],
  };
}

function withoutContent(profile: SessionProfile): SessionProfile {
  return { ...profile, title: null, cwd: null, systemPrompt: null, systemPromptTokens: 0 };
}
