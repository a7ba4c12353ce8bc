import type { CompressionPlan } from '../../../core/domain/compression/plan.ts';
import { sumTokens } from '../../../core/domain/transcript/tokens.ts';
import type { ByHandOutcome, ByHandPreview } from '../../../core/use-cases/compress-by-hand.ts';
import type { ResultOf } from '../../../protocol/registry.ts';
import { failed, result } from './answer.ts';
import type { Answer } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { Handlers } from './handler.ts';
import { failureToWire, usageToWire } from './receipt-to-wire.ts';
import { refusalToWire } from './refusal-to-wire.ts';

type CompressAnswer = Answer<ResultOf<'session.compress'>>;
type PlanOnWire = Extract<ResultOf<'session.compress'>, { preview: true }>['plans'][number];

/** How long a client should wait before it repeats a call that met a failing storage. */
const retryAfterMs = 1_000;

/** A compression by hand, or what one would do. */
export function makeCompressHandler(deps: Pick<RpcDependencies, 'byHand' | 'ids'>): Handlers['session.compress'] {
  return async ({ session_id: sessionId, request_id, focus, keep_last, preview }, { principal }) => {
    const keepLast = keep_last ?? null;
    if (preview) {
      const previewed = await deps.byHand.preview({ sessionId, keepLast });
      if (previewed === null) return refusalToWire({ reason: 'not_found', what: 'session' });
      return result(previewToWire(sessionId, previewed));
    }
    const { principalId } = principal;
    const requestId = request_id ?? deps.ids.next();
    const outcome = await deps.byHand.compress({ sessionId, principalId, requestId, focus: focus ?? null, keepLast });
    return outcomeToWire(sessionId, outcome, request_id !== undefined);
  };
}

function outcomeToWire(sessionId: string, outcome: ByHandOutcome, isRepeatable: boolean): CompressAnswer {
  switch (outcome.kind) {
    case 'compressed': {
      const { record, duplicate } = outcome;
      return result({
        preview: false,
        session_id: sessionId,
        stored_session_id: record.childTranscript ?? sessionId,
        compression_id: record.compressionId,
        execution_generation: record.executionGeneration,
        tokens_before: record.tokensBefore,
        tokens_after: record.tokensAfter ?? 0,
        model: record.model ?? '',
        usage: record.usage === null ? null : usageToWire(record.usage),
        duplicate,
      });
    }
    case 'failed':
      return failureOf(outcome.record, isRepeatable);
    case 'nothing_to_compress':
      return failed('nothing_to_compress', {});
    case 'request_conflict':
      return failed('request_conflict', { session_id: sessionId });
    case 'refused':
      return refusalToWire(outcome.refusal);
    case 'unavailable':
      return failed('storage_unavailable', { outcome_unknown: true, retry_after_ms: retryAfterMs });
  }
}

/** Under the request id of the caller the same call answers the same for ever, so it never succeeds later. */
function failureOf(
  { failure, executionGeneration }: Extract<ByHandOutcome, { kind: 'failed' }>['record'],
  isRepeatable: boolean,
): Answer<never> {
  return failed('compression_failed', {
    message: failure?.message ?? 'The compression came to nothing.',
    retryable: failure?.retryable === true && !isRepeatable,
    ...(failure === null ? {} : { failure: failureToWire(failure) }),
    execution_generation: executionGeneration,
  });
}

function previewToWire(sessionId: string, { size, window, plans }: ByHandPreview): ResultOf<'session.compress'> {
  return {
    preview: true,
    session_id: sessionId,
    tokens: size.localTokens,
    window_tokens: window.windowTokens,
    trigger_tokens: window.triggerTokens,
    plans: plans.map(planToWire),
  };
}

function planToWire({ rung, head, middle, tail, boundTokens }: CompressionPlan): PlanOnWire {
  const part = (messages: CompressionPlan['head']) => ({ messages: messages.length, tokens: sumTokens(messages) });
  return { rung, head: part(head), middle: part(middle), tail: part(tail), bound_tokens: Math.floor(boundTokens) };
}
