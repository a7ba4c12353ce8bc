import { createOpenAI } from '@ai-sdk/openai';
import type { OpenAILanguageModelChatOptions, OpenAILanguageModelResponsesOptions } from '@ai-sdk/openai';
import { readChatFrame } from './chat-frames.ts';
import { callOptions } from './request-to-prompt.ts';
import type { PromptProfile } from './request-to-prompt.ts';
import { readResponsesFrame } from './responses-frames.ts';
import type { ModelOptions, Wire, WireAddress } from './wire.ts';

/** OpenAI's own chat completions. They give no reasoning and want none back. */
export const openAiChatWire: Wire = {
  vendor: 'openai',
  readFrame: readChatFrame,
  takesWholeAnswers: true,
  callsFrom: 'frames',
  model: (modelId, address) => openAi(address).chat(modelId),
  callOptions: (request, options) => ({
    ...callOptions(request, {
      vendor: 'openai',
      carries: (type) => type.startsWith('image/') || carriedByChat.includes(type),
      needsOfReasoning: ['nothing'],
      legalCallId: /^[a-zA-Z0-9_-]{1,40}$/,
      argumentsAs: 'text',
    }),
    ...temperatureOf(options),
    providerOptions: {
      openai: { ...effortOf(options), ...options.providerOptions },
    },
  }),
};

/**
 * OpenAI's responses. Nothing is kept on the server (`store: false`): a session must be able to go on with another vendor
 * and after a year, so reasoning comes back encrypted and is handed back with the calls that it led to.
 */
export const openAiResponsesWire: Wire = {
  vendor: 'openai',
  readFrame: readResponsesFrame,
  takesWholeAnswers: false,
  callsFrom: 'sdk',
  model: (modelId, address) => openAi(address).responses(modelId),
  callOptions(request, options) {
    const own: OpenAILanguageModelResponsesOptions = {
      ...effortOf(options),
      // Of a model that the SDK doesn't know, the effort says that it reasons.
      ...(options.reasoningEffort !== null && { reasoningSummary: 'auto', forceReasoning: true }),
      ...options.providerOptions,
      store: false,
    };
    return {
      ...callOptions(request, responsesProfile),
      ...temperatureOf(options),
      providerOptions: { openai: own },
    };
  },
};

const responsesProfile: PromptProfile = {
  vendor: 'openai',
  carries: (type) => type.startsWith('image/') || type === 'application/pdf',
  needsOfReasoning: ['reasoningEncryptedContent'],
  legalCallId: /^[a-zA-Z0-9_-]{1,64}$/,
  argumentsAs: 'text',
};

const carriedByChat: readonly string[] = ['application/pdf', 'audio/wav', 'audio/mp3', 'audio/mpeg'];

/** An empty key keeps the SDK from looking for one in the environment; no header of it goes out. */
function openAi({ baseUrl, apiKey, headers, fetch }: WireAddress): ReturnType<typeof createOpenAI> {
  return createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', headers: { ...headers }, fetch });
}

function effortOf({ reasoningEffort }: ModelOptions): Pick<OpenAILanguageModelChatOptions, 'reasoningEffort'> {
  return reasoningEffort === null ? {} : { reasoningEffort };
}

function temperatureOf({ temperature }: ModelOptions): { readonly temperature?: number } {
  return temperature === null ? {} : { temperature };
}
