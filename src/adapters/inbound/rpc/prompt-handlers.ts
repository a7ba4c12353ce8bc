import { receiptOf } from '../../../core/domain/admission/receipt.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import type { AdmissionWithContent } from '../../../core/ports/session-queries.ts';
import { maxShownTextBytes } from '../../../protocol/limits.ts';
import type { ResultOf } from '../../../protocol/registry.ts';
import { failed, result } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import { keyFromWire, payloadFromWire, placeFromWire } from './from-wire.ts';
import type { HandlersOf } from './handler.ts';
import { promptToWire } from './message-to-wire.ts';
import { makePromptWait } from './prompt-wait.ts';
import { makeReceiptToWire } from './receipt-to-wire.ts';
import { answerOf } from './refusal-to-wire.ts';
import { TextBudget } from './shown-text.ts';

const maxPageTextBytes = 2 * 1024 * 1024;

/** Prompts, from their receipt to their end. */
export function makePromptHandlers(deps: RpcDependencies): HandlersOf<'prompt'> {
  const { sessions, queries } = deps;
  const receiptToWire = makeReceiptToWire(deps);
  return {
    'prompt.wait': makePromptWait(deps),

    'prompt.submit': async (params, { principal }) => {
      const sent = await deps.submitPrompt({
        sessionId: params.session_id,
        principalId: principal.principalId,
        inputId: params.input_id,
        payload: payloadFromWire(params),
      });
      return answerOf(sent, receiptToWire);
    },

    'prompt.receipt': async (params, { principal }) => {
      const key = keyFromWire(params, principal.principalId);
      const sent = await sessions.send(params.session_id, { kind: 'receipt', key, known: undefined });
      return answerOf(sent, receiptToWire);
    },

    'prompt.list': async ({ session_id, include, limit, cursor }) => {
      const after = cursor === undefined ? null : Number(cursor);
      // Number() takes more texts for a number than a page has for cursors.
      if (after !== null && (!Number.isFinite(after) || String(after) !== cursor)) {
        return failed('invalid_params', { fields: [{ path: 'cursor', message: 'is not the cursor of a page' }] });
      }
      const state = await sessions.state(session_id);
      if (state === null || state.deletedAt !== null) return failed('not_found', { what: 'session' });
      const page = await queries.listAdmissions({ sessionId: session_id, include, limit, after });
      return result({
        session_id,
        prompts: promptsToWire(state, page.admissions, receiptToWire),
        next_cursor: page.next === null ? null : String(page.next),
      });
    },

    'prompt.cancel': async (params, { principal }) => {
      const key = keyFromWire(params, principal.principalId);
      const revision = params.revision ?? null;
      const sent = await sessions.send(params.session_id, { kind: 'cancel', key, revision, known: undefined });
      return answerOf(sent, receiptToWire);
    },

    'prompt.edit': async (params, { principal }) => {
      const key = keyFromWire(params, principal.principalId);
      const sent = await deps.editPrompt({
        sessionId: params.session_id,
        key,
        revision: params.revision ?? null,
        payload: payloadFromWire(params),
      });
      return answerOf(sent, receiptToWire);
    },

    'prompt.move': async (params, { principal }) => {
      const key = keyFromWire(params, principal.principalId);
      const revision = params.revision ?? null;
      const to = placeFromWire(params);
      const sent = await sessions.send(params.session_id, { kind: 'move', key, revision, to, known: undefined });
      return answerOf(sent, receiptToWire);
    },

    'prompt.resolve_unknown': async (params, { principal }) => {
      const sent = await sessions.send(params.session_id, {
        kind: 'resolve_unknown',
        admissionId: params.admission_id,
        executionGeneration: params.execution_generation,
        action: params.action,
        by: principal.principalId,
        retryAdmissionId: deps.ids.next(),
        known: undefined,
      });
      return answerOf(sent, ({ receipt, retry }) => ({
        ...receiptToWire(receipt),
        retry: retry === null ? null : receiptToWire(retry),
      }));
    },
  };
}

type ListedPrompt = ResultOf<'prompt.list'>['prompts'][number];

function promptsToWire(
  state: SessionState,
  admissions: readonly AdmissionWithContent[],
  receiptToWire: ReturnType<typeof makeReceiptToWire>,
): ListedPrompt[] {
  const budget = new TextBudget(maxShownTextBytes, maxPageTextBytes);
  return admissions.map(({ admission, content }) => ({
    ...receiptToWire(receiptOf(state, admission, true)),
    ...(content === null ? { text: null } : promptToWire(content, budget)),
  }));
}
