import { createOpenAI } from '@ai-sdk/openai';
import type { OpenAILanguageModelChatOptions, OpenAILanguageModelResponsesOptions } from '@ai-sdk/openai';
import { readChatFrame } from './chat-frames.ts';
import { carriedByChat } from './openai-compatible-wire.ts';
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
    ...callOptions(request, options, chatProfile),
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
      ...callOptions(request, options, responsesProfile),
      providerOptions: { openai: own },
    };
  },
};

const chatProfile: PromptProfile = {
  vendor: 'openai',
  carries: carriedByChat,
  needsOfReasoning: ['nothing'],
  legalCallId: /^[a-zA-Z0-9_-]{1,40}$/,
  argumentsAs: 'text',
};

const responsesProfile: PromptProfile = {
  vendor: 'openai',
  carries: (type) => type.startsWith('image/') || type === 'application/pdf',
  needsOfReasoning: ['reasoningEncryptedContent'],
  legalCallId: /^[a-zA-Z0-9_-]{1,64}$/,
  argumentsAs: 'text',
};

/** An empty key keeps the SDK from looking for one in the environment; no header of it goes out. */
function openAi({ baseUrl, apiKey, headers, fetch }: WireAddress): ReturnType<typeof createOpenAI> {
  return createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', headers: { ...headers }, fetch });
}

function effortOf({ reasoningEffort }: ModelOptions): Pick<OpenAILanguageModelChatOptions, 'reasoningEffort'> {
  return reasoningEffort === null ? {} : { reasoningEffort };
}
