import type { FreshError } from './fresh-errors.ts';

/**
 * Errors in the shapes of vendors whose own bodies are in no other list, and look-alikes that name tokens, contexts and
 * limits without being about the window. They were written without the tables in view: what they find wrong is corrected
 * for its family.
 */
const e = (message: string, more: object = {}) => ({ error: { message, ...more } });

const O = 'context_overflow';
const R = 'rate_limited';
const U = 'output_limit';
const P = 'payload_too_large';
const B = 'bad_request';
const Q = 'quota_exhausted';
const A = 'auth';
const V = 'unavailable';
const C = 'configuration';
const F = 'content_filtered';

export const holdOutErrors: readonly FreshError[] = [
  // vLLM
  [
    400,
    {
      object: 'error',
      message:
        'The decoder prompt (length 40213) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    O,
    32768,
  ],
  [
    400,
    {
      error: {
        message:
          "This model's maximum context length is 16384 tokens. However, you requested 16500 tokens (16100 in the messages, 400 in the completion). Please reduce the length of the messages or completion.",
        type: 'BadRequestError',
        code: 400,
      },
    },
    O,
    16384,
  ],
  [
    400,
    { object: 'error', message: 'max_tokens must be at least 1, got -812.', type: 'BadRequestError', code: 400 },
    O,
  ],
  [
    400,
    {
      object: 'error',
      message: 'At most 4 image(s) may be provided in one prompt.',
      type: 'BadRequestError',
      code: 400,
    },
    B,
  ],
  [
    500,
    e('EngineCore encountered an issue. See stack trace (above) for the root cause.', { type: 'InternalServerError' }),
    V,
  ],
  // llama.cpp
  [
    400,
    {
      error: {
        code: 400,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 9412,
        n_ctx: 8192,
      },
    },
    O,
    8192,
  ],
  [500, e('failed to process image: the image does not fit into the batch', { code: 500, type: 'server_error' }), V],
  [503, e('Loading model', { code: 503, type: 'unavailable_error' }), V],
  [400, e('Failed to parse grammar: unexpected token in rule root', { code: 400, type: 'invalid_request_error' }), B],
  // Ollama
  [400, { error: 'the prompt (12011 tokens) does not fit the model, whose num_ctx is 8192' }, O, 8192],
  [500, { error: 'input length exceeds maximum context length' }, O, null],
  [404, { error: "model 'qwen9:200b' not found" }, C],
  [500, { error: 'model requires more system memory (22.1 GiB) than is available (9.8 GiB)' }, V],
  [500, { error: 'llama runner process has terminated: exit status 2' }, V],
  [503, { error: 'server busy, please try again. maximum pending requests exceeded' }, V],
  // Amazon Bedrock
  [
    400,
    {
      message:
        'The model returned the following errors: Input is too long. Your input has 214880 tokens; the model accepts 200000 tokens.',
    },
    O,
  ],
  [
    400,
    {
      message:
        'Malformed input request: #: required key [max_tokens] not found, please reformat your input and try again.',
    },
    B,
  ],
  [429, { message: 'Too many tokens per day, please wait before trying again.', __type: 'ThrottlingException' }, R],
  [
    400,
    {
      __type: 'ServiceQuotaExceededException',
      message: 'Your request exceeds the maximum context quota of tokens for this account and region.',
    },
    R,
  ],
  [
    403,
    { __type: 'AccessDeniedException', message: "You don't have access to the model with the specified model ID." },
    A,
  ],
  [
    400,
    {
      __type: 'ValidationException',
      message: 'The maximum tokens you requested (16000) exceeds the model limit of 8192 output tokens.',
    },
    U,
    null,
  ],
  // Azure
  [
    400,
    e('Your input exceeds the context window of this deployment. Please adjust your input and try again.', {
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'input',
    }),
    O,
    null,
  ],
  [
    429,
    {
      error: {
        code: '429',
        message:
          'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2025-01-01 have exceeded the token rate limit of your current pricing tier. Please retry after 27 seconds. Please reduce your prompt or max_tokens.',
      },
    },
    R,
  ],
  [
    400,
    {
      error: {
        message:
          'The prompt was filtered: its context matched a category of the policy. The maximum severity is medium.',
        code: 'content_filter',
        status: 400,
      },
    },
    F,
  ],
  [404, e('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' }), C],
  [413, e('The page was not displayed because the request entity is too large.'), P],
  // OpenRouter
  [
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          provider_name: 'DeepInfra',
          raw: '{"error":{"message":"Requested input length 140000 exceeds maximum input length 131071"}}',
        },
      },
    },
    O,
  ],
  [
    402,
    e(
      'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens with a context of 90000, but can only afford 412.',
      { code: 402 },
    ),
    Q,
  ],
  [
    403,
    e('Your chosen model requires moderation and your input was flagged for "violence".', {
      code: 403,
      metadata: { reasons: ['violence'], flagged_input: 'maximum context length is 10 tokens' },
    }),
    F,
  ],
  [404, e('No endpoints found that support tool use.', { code: 404 }), C],
  [
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: { raw: 'some-model:free is temporarily rate-limited upstream. Please retry shortly.' },
      },
    },
    R,
  ],
  // Groq
  [
    400,
    e('Please reduce the length of the messages or completion.', {
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
    O,
    null,
  ],
  [
    413,
    e(
      'Request too large for model `some-70b` in organization `org_1` service tier `on_demand` on input tokens per minute (ITPM): Limit 6000, Requested 14009, please reduce your message size and try again.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    R,
  ],
  [
    400,
    e(
      '`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model',
      {
        type: 'invalid_request_error',
      },
    ),
    U,
  ],
  [
    400,
    e("Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", {
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: 'prompt is too long: 9 tokens > 8 maximum',
    }),
    B,
  ],
  // Mistral
  [
    400,
    {
      object: 'error',
      message:
        'Prompt contains 150312 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    },
    O,
    131072,
  ],
  [
    422,
    {
      object: 'error',
      message: {
        detail: [{ type: 'less_than', loc: ['body', 'temperature'], msg: 'Input should be less than or equal to 1.5' }],
      },
    },
    B,
  ],
  [429, { message: 'Requests rate limit exceeded', request_id: 'x' }, R],
  [
    429,
    {
      object: 'error',
      message: 'Service tier capacity exceeded for this model.',
      type: 'invalid_request_error',
      code: '3505',
    },
    R,
  ],
  [401, { detail: 'Unauthorized' }, A],
  // DeepSeek
  [
    400,
    e(
      "This model's maximum context length is 131072 tokens. However, you requested 140211 tokens (132211 in the messages, 8000 in the completion).",
      { type: 'invalid_request_error', code: 'invalid_request_error' },
    ),
    O,
    131072,
  ],
  [
    400,
    e('Invalid max_tokens value, the valid range of max_tokens is [1, 65536]', { type: 'invalid_request_error' }),
    U,
  ],
  [402, e('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' }), Q],
  [
    400,
    e('Messages with role `tool` must be a response to a preceding message with `tool_calls`', {
      type: 'invalid_request_error',
    }),
    B,
  ],
  // Cohere
  [
    400,
    {
      message:
        'too many tokens: the total number of tokens in the prompt cannot exceed 128000 - received 171200. Try using a shorter prompt, or enabling prompt truncating.',
    },
    O,
    128000,
  ],
  [
    400,
    {
      message:
        'invalid request: max_tokens must be less than or equal to 4096, the model’s maximum number of output tokens.',
    },
    U,
  ],
  [
    429,
    {
      message:
        'You are using a Trial key, which is limited to 1000 API calls / month. You can continue by upgrading to a Production key.',
    },
    R,
  ],
  [422, { message: 'token limit field is not a recognised parameter of this endpoint' }, B],
  // xAI
  [
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 204871 tokens.",
    },
    O,
    131072,
  ],
  [
    403,
    {
      code: 'The caller does not have permission to execute the specified operation',
      error: 'Your team has used all available credits or reached its monthly spending limit.',
    },
    Q,
  ],
  [400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***9f.' }, A],
  // Others
  [400, e('Sum of prompt and completion tokens is limited to 32768'), O],
  [400, e('input + output may be up to 16384 tokens together; the combined input and output limit is 16384'), O],
  [429, e('You have used up all of your prepaid credits'), Q],
  [403, e('The project hit its monthly budget cap'), Q],
  [403, e('The prompt has been flagged as harmful'), F],
  [403, e('Your key was flagged for rotation and is disabled'), A],
  [400, e('At most 8192 completion tokens may be returned, 9000 were requested'), U],
  [400, e('Generation length of 70000 is over the limit for this model'), U],
  [400, e('The answer to a response format must be JSON'), B],
  [
    400,
    e('The total length of input and output is limited to 65536 tokens, got 70112.', { code: 'invalid_parameter' }),
    O,
  ],
  [413, '<html><body>Payload Too Large: the context of this server allows 1 MB</body></html>', P],
  [400, e('Request body is 12582912 bytes; at most 10485760 bytes are accepted by the context service'), P],
  [429, e('Quota for tokens of the maximum context tier is used up; it resets in 3 hours'), R],
  [400, e('Free tier: maximum context requests per day reached. Please try again in 40m12s.'), R],
  [400, e('Only 2048 output tokens can be generated by this model; you asked for 5000'), U],
  [400, e('The response length you asked for (9000 tokens) is above what the model can produce (8192 tokens)'), U],
  [400, e('Context: the system message contains a blocked term. Content violates the usage policies.'), F],
  [500, e('Failed to allocate KV cache for the context: CUDA out of memory'), V],
  [502, e('Upstream closed the connection while the prompt of 90000 tokens was read'), V],
  [400, e('输入的 tokens 数 140000 超过了模型支持的最大上下文 131072'), O],
  [400, e('prompt tokens (70000) + reserved output (4096) is more than n_ctx (65536)'), O, 65536],
];
