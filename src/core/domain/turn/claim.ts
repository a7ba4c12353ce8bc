import { startAdmission } from '../admission/admission.ts';
import type { Admission } from '../admission/admission.ts';
import type { Command, PreparedFor } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import { canClaim, queueHead } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { appendedEvents } from './close-turn.ts';

/** Starts the head of the queue (P3) and raises the generation. */
export function decideClaim(
  state: SessionState,
  command: Command<'claim'>,
  context: DecideContext,
): Verdict<{ executionGeneration: number }> {
  if (context.draining) return refused({ reason: 'draining' });
  const head = queueHead(state);
  if (!canClaim(state) || head?.admissionId !== command.admissionId) return refused({ reason: 'not_claimable' });
  if (!isPrepared(state, head, command.preparedFor)) return refused({ reason: 'not_claimable' });
  const executionGeneration = state.executionGeneration + 1;
  const turn = startAdmission(head, { epoch: context.epoch, generation: executionGeneration, at: context.now });
  const prompt = command.prompt === null ? [] : [command.prompt];
  const events = [
    admissionEvent(turn, { type: 'turn.started' }),
    ...appendedEvents(turn, prompt, { ...context, step: 1, contextTokens: null, boundary: 'model' }),
  ];
  return accepted(events, () => ({ executionGeneration }));
}

/**
 * An edit or another model that was acknowledged meanwhile counts, and so does a compression: what did not fit may fit
 * now. Nothing has started yet.
 */
function isPrepared({ profile, lineage }: SessionState, head: Admission, prepared: PreparedFor | undefined): boolean {
  if (prepared === undefined) return true;
  const { revision, model, compressions } = prepared;
  const sameModel =
    model.provider === profile.provider && model.model === profile.model && model.baseUrl === profile.baseUrl;
  return sameModel && revision === head.revision && compressions === lineage.compressions;
}
