import { argumentsText, dataFrame, halves } from './dialect.ts';
import type { Dialect, Said } from './dialect.ts';
import { googleRequestFaults } from './google-request-faults.ts';

/** Gemini's `streamGenerateContent?alt=sse`, as https://ai.google.dev/api/generate-content describes it. */
export const googleDialect: Dialect = {
  wire: 'google',
  path: (model) => `/models/${model}:streamGenerateContent?alt=sse`,
  keyHeader: (key) => ({ 'x-goog-api-key': key }),
  frames: (said) => contentFrames(said, 'STOP'),
  cutShort: (said) => contentFrames(said, 'MAX_TOKENS'),
  errorFrame: dataFrame({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  overflow: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'The input token count (1200450) exceeds the maximum number of tokens allowed (1048575).',
        status: 'INVALID_ARGUMENT',
      },
    },
    contextTokens: 1_048_575,
  },
  overloaded: {
    status: 503,
    body: { error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' } },
  },
  faults: googleRequestFaults,
};

function contentFrames(said: Said, finishReason: string): readonly string[] {
  const { reasoning, text, calls = [], inputTokens = 10, outputTokens = 5 } = said;
  const parts = [
    ...halves(reasoning ?? '').map((half) => ({ text: half, thought: true })),
    ...halves(text ?? '').map((half) => ({ text: half })),
    // Of parallel calls only the first one is signed.
    ...calls.map((call, index) => ({
      functionCall: { id: call.id, name: call.name, args: JSON.parse(argumentsText(call)) as unknown },
      ...(reasoning !== undefined && index === 0 && { thoughtSignature: 'c2lnbmVk' }),
    })),
  ];
  const usageMetadata = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
  };
  return [
    ...parts.map((part) => dataFrame({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] })),
    dataFrame({
      candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason, index: 0 }],
      usageMetadata,
    }),
  ];
}
