import { failureOf } from '../../../core/domain/model/failure.ts';
import type { Usage } from '../../../core/domain/model/usage.ts';
import { roughTokens } from '../../../core/domain/transcript/tokens.ts';
import type { Clock } from '../../../core/ports/clock.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from '../../../core/ports/model-provider.ts';
import { demoReply } from './demo-reply.ts';
import { demoSummary } from './demo-summary.ts';

export interface DemoModelOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Between two words. */
  readonly wordDelayMs?: number;
  /** Requests over this window are refused, as a real model does. */
  readonly windowTokens?: number;
}

/**
 * The model that answers when none is configured (`provider: demo`). It needs no network and no key, gives the same
 * answer to the same request, and knows a few commands with which queues, restarts and compression can be shown.
 */
export function makeDemoModel({ clock, wordDelayMs = 15, windowTokens = 8192 }: DemoModelOptions): ModelProvider {
  return { stream };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const inputTokens = inputTokensOf(request);
    if (inputTokens > windowTokens) {
      yield overflow(inputTokens, windowTokens);
      return;
    }
    const reply = request.purpose === 'summary' ? { text: demoSummary(lastUserText(request)) } : demoReply(request);
    const delayMs = reply.wordDelayMs ?? (request.purpose === 'turn' ? wordDelayMs : 0);
    for (const word of reply.text.match(/\s*\S+/g) ?? []) {
      if (delayMs > 0) await clock.sleep(delayMs, signal);
      if (signal.aborted) break;
      yield { kind: 'text', text: word };
    }
    yield signal.aborted
      ? aborted
      : reply.failure === undefined
        ? finished(inputTokens, reply.text)
        : failed(reply.failure);
  }
}

const aborted: ModelEvent = {
  kind: 'failed',
  failure: failureOf('aborted', 'The request was stopped.'),
  learnt: null,
  usage: null,
};

function failed(message: string): ModelEvent {
  return { kind: 'failed', failure: failureOf('unavailable', message), learnt: null, usage: null };
}

function overflow(inputTokens: number, windowTokens: number): ModelEvent {
  const message = `The demo model's context window is ${String(windowTokens)} tokens, and the request has ${String(inputTokens)}.`;
  return {
    kind: 'failed',
    failure: failureOf('context_overflow', message),
    learnt: { contextTokens: windowTokens },
    usage: null,
  };
}

function finished(inputTokens: number, text: string): ModelEvent {
  const outputTokens = roughTokens(text);
  const usage: Usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  return { kind: 'finished', finishReason: 'stop', usage, parts: null };
}

function inputTokensOf({ system, messages, tools }: ModelRequest): number {
  const texts = [system ?? '', ...messages.map(({ text }) => text), tools.length > 0 ? JSON.stringify(tools) : ''];
  return texts.reduce((sum, text) => sum + roughTokens(text), 4 * messages.length);
}

function lastUserText({ messages }: Pick<ModelRequest, 'messages'>): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}
