import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { readChatFrame } from './chat-frames.ts';
import { callOptions } from './request-to-prompt.ts';
import type { PromptProfile } from './request-to-prompt.ts';
import type { Wire } from './wire.ts';

/** OpenAI's chat completions as everybody else speaks them. */
export const openAiCompatibleWire: Wire = {
  vendor: null,
  readFrame: readChatFrame,
  takesWholeAnswers: true,
  callsFrom: 'frames',

  model: (modelId, { baseUrl, apiKey, headers, fetch }) =>
    createOpenAICompatible({
      name: 'custom',
      baseURL: baseUrl,
      ...(apiKey !== null && { apiKey }),
      headers: { ...headers },
      includeUsage: true,
      fetch,
    }).chatModel(modelId),

  callOptions(request, options) {
    const { reasoningEffort, providerOptions } = options;
    const own = { ...providerOptions, ...(reasoningEffort !== null && { reasoningEffort }) };
    return {
      ...callOptions(request, options, profileOf(request.target.model)),
      // The SDK adds what stands under the provider's own name to the body.
      ...(Object.keys(own).length > 0 && { providerOptions: { custom: own } }),
    };
  },
};

const carriedTypes: readonly string[] = ['application/pdf', 'audio/wav', 'audio/mp3', 'audio/mpeg'];

/** The media types that a part of a chat completion may have. */
export function carriedByChat(type: string): boolean {
  return type.startsWith('image/') || carriedTypes.includes(type);
}

function profileOf(model: string): PromptProfile {
  return {
    vendor: null,
    carries: carriedByChat,
    needsOfReasoning: [],
    // Mistral takes one form only. All others get back what they gave: Kimi, for one, needs its own form again.
    legalCallId: /(?:^|[/-])(?:(?:open-)?mi[sx]tral|ministral|codestral|devstral|magistral|pixtral)/i.test(model)
      ? /^[a-zA-Z0-9]{9}$/
      : /^[\x21-\x7e]{1,64}$/,
    argumentsAs: 'text',
  };
}
