import { createGoogleGenerativeAI } from '@ai-sdk/google';
import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import { readGoogleFrame } from './google-frames.ts';
import { callOptions } from './request-to-prompt.ts';
import type { PromptProfile } from './request-to-prompt.ts';
import type { ModelOptions, ReasoningEffort, Wire } from './wire.ts';

/** Google's Gemini. */
export const googleWire: Wire = {
  vendor: 'google',
  readFrame: readGoogleFrame,
  takesWholeAnswers: false,
  callsFrom: 'sdk',

  // An empty key keeps the SDK from looking for one in the environment; no header of it goes out.
  model: (modelId, { baseUrl, apiKey, headers, fetch }) =>
    createGoogleGenerativeAI({ baseURL: baseUrl, apiKey: apiKey ?? '', headers: { ...headers }, fetch })(modelId),

  callOptions: (request, options) => ({
    ...callOptions(request, options, profile),
    providerOptions: {
      google: {
        ...thinkingFor(request.target.model, options),
        ...options.providerOptions,
      } as SharedV3ProviderOptions[string],
    },
  }),
};

const profile: PromptProfile = {
  vendor: 'google',
  carries: (type) => /^(?:image|audio|video)\//.test(type) || type === 'application/pdf',
  needsOfReasoning: ['thoughtSignature'],
  legalCallId: /^[a-zA-Z0-9_-]{1,64}$/,
  argumentsAs: 'object',
};

const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 12_288,
  high: 24_576,
};

/** Gemini 2.5 takes a budget, later ones a level. Without an effort the model decides, and shows what it thinks. */
function thinkingFor(model: string, { reasoningEffort }: ModelOptions): Readonly<Record<string, unknown>> {
  if (reasoningEffort === null)
    return /gemini-(?:2\.5|[3-9])/.test(model) ? { thinkingConfig: { includeThoughts: true } } : {};
  const includeThoughts = reasoningEffort !== 'none';
  if (!/gemini-[3-9]/.test(model)) {
    return { thinkingConfig: { thinkingBudget: budgets[reasoningEffort], includeThoughts } };
  }
  const thinkingLevel = reasoningEffort === 'none' ? 'minimal' : reasoningEffort;
  return { thinkingConfig: { thinkingLevel, includeThoughts } };
}
