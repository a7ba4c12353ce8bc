import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV3CallOptions, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ContentPart } from '../../../core/domain/transcript/message.ts';
import type { ModelRequest } from '../../../core/ports/model-provider.ts';
import { readAnthropicFrame } from './anthropic-frames.ts';
import { callOptions } from './request-to-prompt.ts';
import type { PromptProfile } from './request-to-prompt.ts';
import type { ModelOptions, ReasoningEffort, Wire } from './wire.ts';

/** Anthropic's messages. */
export const anthropicWire: Wire = {
  vendor: 'anthropic',
  readFrame: readAnthropicFrame,
  takesWholeAnswers: false,
  callsFrom: 'sdk',

  // An empty key keeps the SDK from looking for one in the environment; no header of it goes out.
  model: (modelId, { baseUrl, apiKey, headers, fetch }) =>
    createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? '', headers: { ...headers }, fetch })(modelId),

  callOptions(request, options) {
    const named = request.maxOutputTokens ?? request.outputCeilingTokens ?? null;
    const thinking = thinkingFor(request, options, named);
    return {
      ...callOptions(request, options, profile),
      // The SDK adds the thinking budget to what it is told.
      maxOutputTokens: named === null ? unknownOutputTokens + thinking.roomTokens : named - thinking.budgetTokens,
      providerOptions: {
        anthropic: { ...thinking.options, ...options.providerOptions } as SharedV3ProviderOptions[string],
      },
    } satisfies LanguageModelV3CallOptions;
  },
};

/** The most output tokens that every model of Anthropic's takes. It must be named in each request. */
const unknownOutputTokens = 4096;

const profile: PromptProfile = {
  vendor: 'anthropic',
  carries: (type) => type.startsWith('image/') || type === 'application/pdf',
  needsOfReasoning: ['signature', 'redactedData'],
  legalCallId: /^[a-zA-Z0-9_-]+$/,
  argumentsAs: 'object',
};

interface Thinking {
  readonly budgetTokens: number;
  /** What thinking may need of the answer's tokens where it has no budget. */
  readonly roomTokens: number;
  readonly options: Readonly<Record<string, unknown>>;
}

const noThinking: Thinking = { budgetTokens: 0, roomTokens: 0, options: {} };

const budgets: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 12_288,
  high: 24_576,
};

/** The smallest budget that Anthropic takes. */
const leastBudget = 1024;

function thinkingFor(request: ModelRequest, { reasoningEffort }: ModelOptions, namedTokens: number | null): Thinking {
  if (reasoningEffort === null || reasoningEffort === 'none' || !mayThink(request)) return noThinking;
  if (thinksAdaptively.test(request.target.model)) {
    const effort = reasoningEffort === 'minimal' ? 'low' : reasoningEffort;
    const roomTokens = budgets[reasoningEffort];
    return { budgetTokens: 0, roomTokens, options: { thinking: { type: 'adaptive', display: 'summarized' }, effort } };
  }
  const budgetTokens = Math.min(budgets[reasoningEffort], Math.floor((namedTokens ?? Infinity) / 2));
  if (budgetTokens < leastBudget) return noThinking;
  return { budgetTokens, roomTokens: 0, options: { thinking: { type: 'enabled', budgetTokens } } };
}

/** From 4.6 on a model decides by itself how long to think, and some take no budget any more. */
const thinksAdaptively = /claude-[a-z]+-(?:4-[6-9]|[5-9])(?!\d)/;

/**
 * With thinking on, the answer that asked for the newest results has to begin with its thinking. Where another model gave
 * that answer there is none, and the request is refused unless thinking is off.
 */
function mayThink({ messages }: ModelRequest): boolean {
  if (messages.at(-1)?.role !== 'tool') return true;
  const asker = messages.findLast((message) => message.role === 'assistant');
  return asker?.parts?.some(isSigned) ?? false;
}

function isSigned(part: ContentPart): boolean {
  const fields = part.type === 'reasoning' ? part.providerMetadata?.['anthropic'] : undefined;
  return fields?.['signature'] !== undefined || fields?.['redactedData'] !== undefined;
}
