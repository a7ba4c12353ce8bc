import type { Admission } from '../admission/admission.ts';
import { admissionEvent } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { messageFrom, textDraft } from '../transcript/message.ts';
import type { MessageDraft } from '../transcript/message.ts';
import { openToolCalls } from '../transcript/tool-pairs.ts';
import { messageOverheadTokens, roughTokens } from '../transcript/tokens.ts';

/** How a turn ended without a final answer. */
export interface BrokenEnd {
  readonly ending: 'stopped' | 'failed' | 'lost';
  /** What there is of an answer, to be kept and marked. */
  readonly partial: MessageDraft | null;
}

/**
 * The messages that close a turn whose prompt is in the transcript: a result for every open tool call, then the
 * partial answer or else a short note, so that the next prompt never merges with this one and every later request is
 * valid (P10). A turn that never stored its prompt leaves the transcript as it is.
 */
export function closeTurn(
  state: SessionState,
  admission: Admission,
  end: BrokenEnd,
  context: DecideContext,
): readonly UnnumberedEvent[] {
  if (admission.promptMessageId === null) return [];
  const drafts = [
    ...openToolCalls(state.messages).map((id) => toolNote(admission, id, callNote(state, id, end))),
    end.partial === null || end.partial.text.trim() === ''
      ? endNote(admission, endNotes[end.ending])
      : { ...end.partial, partial: true, toolCalls: [] },
  ];
  return appendedEvents(admission, drafts, { ...context, step: admission.step, contextTokens: null, boundary: null });
}

/** A `message.appended` for each draft, with ids from the context's run. Usage belongs to the last one. */
export function appendedEvents(
  admission: Admission,
  drafts: readonly MessageDraft[],
  at: Pick<DecideContext, 'nextMessageId' | 'now'> & {
    readonly step: number;
    readonly contextTokens: number | null;
    readonly boundary: 'model' | null;
  },
): readonly UnnumberedEvent[] {
  return drafts.map((draft, index) =>
    admissionEvent(admission, {
      type: 'message.appended',
      message: messageFrom(draft, at.nextMessageId + index, at.now),
      boundary: at.boundary,
      step: at.step,
      contextTokens: index === drafts.length - 1 ? at.contextTokens : null,
      answeredBy: draft.answeredBy ?? null,
    }),
  );
}

const toolNotes: Readonly<Record<BrokenEnd['ending'], string>> = {
  stopped: '[The call was stopped. Whether it had an effect is unknown.]',
  failed: '[The turn failed before the result of this call was stored. Its outcome is unknown.]',
  lost: '[The gateway stopped while this call was open. Its outcome is unknown.]',
};

const neverStarted = '[The call was not started.]';

/** What is known of a call without a result: whether its intent was stored says whether it may have had an effect. */
function callNote(state: SessionState, callId: string, end: BrokenEnd): string {
  return state.runningCalls.some((call) => call.callId === callId) ? toolNotes[end.ending] : neverStarted;
}

const endNotes: Readonly<Record<BrokenEnd['ending'], string>> = {
  stopped: '[This turn was stopped before it was answered.]',
  failed: '[This turn failed before it was answered.]',
  lost: '[The gateway stopped during this turn. Its answer is lost.]',
};

/** A result of the gateway's own for a call that has no other. */
export function toolNote(admission: Admission, toolCallId: string, text: string): MessageDraft {
  return { ...noteDraft(admission, 'tool', text), kind: 'tool', toolCallId };
}

function endNote(admission: Admission, text: string): MessageDraft {
  return noteDraft(admission, 'assistant', text);
}

function noteDraft(admission: Admission, role: 'assistant' | 'tool', text: string): MessageDraft {
  const tokens = roughTokens(text) + messageOverheadTokens;
  return textDraft({ role, kind: 'note', text, tokens, admissionId: admission.admissionId });
}
