import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { ContentPart, ToolCall } from '../domain/transcript/message.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { FinishReason, LearntLimit, ModelProvider, ModelRequest } from '../ports/model-provider.ts';

/** What one request to a model brought. */
export type StepOutcome =
  | {
      readonly kind: 'answered';
      readonly text: string;
      readonly parts: readonly ContentPart[] | null;
      readonly toolCalls: readonly ToolCall[];
      readonly finishReason: FinishReason;
      readonly usage: Usage | null;
    }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly learnt: LearntLimit | null;
      /** What had been said before it failed. */
      readonly text: string;
      readonly usage: Usage | null;
    };

export interface StepListener {
  text(chunk: string): void;
  reasoning(chunk: string): void;
}

/** Sends one request and gathers its answer. It never throws for what a provider does. */
export async function requestStep(
  deps: { readonly provider: ModelProvider; readonly failpoints: Failpoints },
  request: ModelRequest,
  signal: AbortSignal,
  listener: StepListener | null,
): Promise<StepOutcome> {
  const place = request.purpose === 'turn' ? 'model' : request.purpose;
  const chunks: string[] = [];
  const toolCalls: ToolCall[] = [];
  await deps.failpoints.hit(`${place}.before_send`);
  if (signal.aborted) return failed(aborted, '');
  let outcome: StepOutcome | null = null;
  let events = 0;
  try {
    for await (const event of deps.provider.stream(request, signal)) {
      events += 1;
      if (events === 1) await deps.failpoints.hit(`${place}.first_event`);
      switch (event.kind) {
        case 'text':
          chunks.push(event.text);
          listener?.text(event.text);
          break;
        case 'reasoning':
          listener?.reasoning(event.text);
          break;
        case 'tool_call':
          toolCalls.push(event.call);
          break;
        case 'finished':
          outcome = { ...event, kind: 'answered', text: chunks.join(''), toolCalls };
          break;
        case 'failed':
          outcome = { ...event, text: chunks.join('') };
          break;
      }
    }
  } catch (error) {
    outcome = failed(failureOf('internal', `The model adapter broke: ${nameOf(error)}.`), chunks.join(''));
  }
  await deps.failpoints.hit(`${place}.after_answer`);
  return judged(outcome ?? failed(failureOf('cut_off', 'The model adapter ended without a result.'), chunks.join('')));
}

/** An answer with nothing in it is no answer. */
function judged(outcome: StepOutcome): StepOutcome {
  if (outcome.kind === 'failed' || outcome.toolCalls.length > 0 || outcome.text.trim() !== '') return outcome;
  const message = `The model ended without an answer (finish reason ${outcome.finishReason}).`;
  return { ...failed(failureOf('empty_reply', message, { retryable: true }), ''), usage: outcome.usage };
}

const aborted = failureOf('aborted', 'The request was stopped before it was sent.');

function failed(failure: Failure, text: string): StepOutcome & { kind: 'failed' } {
  return { kind: 'failed', failure, learnt: null, text, usage: null };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
