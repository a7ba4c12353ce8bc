import type { FailureKind } from '../../../../src/core/domain/model/failure.ts';

/**
 * Errors that no provider is known to have sent word for word: families of real ones with other numbers, names and
 * wordings, and texts that look like an overflow and are none. The third column is what they are; the fourth, where it
 * is given, the window that may be learnt from them.
 */
export type FreshError = readonly [status: number | null, body: unknown, kind: FailureKind, window?: number | null];

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

export const freshErrors: readonly FreshError[] = [
  [
    400,
    e("This model's maximum context length is 16,385 tokens. However, your messages resulted in 17,001 tokens."),
    O,
    16385,
  ],
  [
    400,
    e(
      'This model’s maximum context length is 128000 tokens。 However，you requested 130000 tokens （129000 in the messages， 1000 in the completion）。',
    ),
    O,
    128000,
  ],
  [400, 'prompt is too long: 1234567 tokens > 1000000 maximum', O, 1000000],
  [
    400,
    e(
      'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again',
    ),
    O,
    200000,
  ],
  [400, { message: 'Input is too long for the requested model' }, O, null],
  [
    400,
    e('The input token count (2097153) exceeds the maximum number of tokens allowed (2097152).', {
      code: 400,
      status: 'INVALID_ARGUMENT',
    }),
    O,
    2097152,
  ],
  [400, [e('The input token count of 40000 exceeds the maximum number of input tokens allowed: 32768')], O, 32768],
  [400, e("This model's maximum prompt length is 256000 but the request contains 300001 tokens."), O, 256000],
  [
    500,
    e(
      'rpc error: code = Internal desc = request (20652 tokens) exceeds the available context size (8192 tokens), try increasing it',
      { code: 500 },
    ),
    O,
    8192,
  ],
  [
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`',
      error_type: 'validation',
    },
    O,
    4096,
  ],
  [422, { error: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000' }, O, 4095],
  [400, e('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]'), O, 30720],
  [400, e('Range of prompt length should be [1,129024]'), O, 129024],
  [400, e('Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)'), O, 131072],
  [
    400,
    e('prompt token count of 70000 exceeds the limit of 64000', { code: 'model_max_prompt_tokens_exceeded' }),
    O,
    64000,
  ],
  [400, 'Prompt is 9000 tokens but the model context window is 8192 tokens.', O, 8192],
  [
    400,
    e('Prompt contains 50000 tokens and 0 draft tokens, too large for model with 32768 maximum context length'),
    O,
    32768,
  ],
  [
    400,
    e(
      "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 130000 tokens from the input messages and 10000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    ),
    O,
    131072,
  ],
  [400, e('prompt too long; exceeded max context length by 512 tokens'), O, null],
  [400, { base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' } }, O, null],
  [400, e('some words', { code: 'context_window_exceeded' }), O, null],
  [400, e('Total tokens of image and text exceed max message tokens'), O, null],
  [
    400,
    { code: 20015, message: 'length of prompt_tokens (40961) must be less than max_seq_len (40960).', data: null },
    O,
    40960,
  ],
  [
    400,
    e(
      'The prompt (total length 11700) is too long to fit into the model (context length 8192). Make sure that `max_model_len` is no smaller than the number of text tokens',
    ),
    O,
    8192,
  ],
  [
    400,
    e(
      'Unable to submit request because the input token count is 1200000 but the model only supports up to 1048576. Reduce the input token count and try again.',
    ),
    O,
    1048576,
  ],
  [400, e('the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model'), O, 8192],
  [
    413,
    {
      error: {
        code: 'tokens_limit_reached',
        message: 'Request body too large for gpt-4o-mini model. Max size: 8000 tokens.',
      },
    },
    O,
    8000,
  ],
  [413, { error: { message: 'Request body too large for gpt-4o-mini model. Max size: 8000 tokens.' } }, O, 8000],
  [400, { message: 'Too many input tokens. Max input tokens: 8192, request input token count: 12379 ' }, O, 8192],
  [400, e("The total length of the messages exceeds the model's context length"), O, null],
  [400, e('Your conversation is too long. Please start a new chat.'), O, null],
  [400, e('Prompt exceeds max length', { code: '1261' }), O, null],
  [400, e('Prompt 超长', { code: '1261' }), O, null],
  [400, e('输入长度超过模型最大上下文长度限制'), O, null],
  [400, e('Input token length too long'), O, null],
  [
    400,
    e(
      'Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 400,000 tokens. Please reduce the length of the messages.',
    ),
    O,
    272000,
  ],
  [400, e('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' }), O, null],
  [400, e('Requested tokens (2159) exceed context window of 2048'), O, 2048],
  [500, e('Requested tokens (2159) exceed context window of 2048', { type: 'internal_server_error' }), O, 2048],
  [400, { detail: 'Prompt length 9000 is greater than max_seq_len 8192' }, O, 8192],
  [400, e('the input length exceeds the context length'), O, null],
  [
    null,
    'ContextWindowSizeExceededError: Prompt tokens exceed context window size: number of prompt tokens: 5000; context window size: 4096',
    O,
    4096,
  ],
  [400, e('Request prompt has 5000 tokens in total, larger than the model input length limit 4096.'), O, 4096],
  [400, e('Prompt length (9000) exceeds maximum input length (8192).'), O, 8192],
  [400, e('The request was too large: 250000 tokens, limit 200000 tokens'), O, null],
  [
    400,
    e(
      "This endpoint's maximum context length is 262144 tokens. However, you requested about 300000 tokens (290000 of text input, 2000 of tool input, 8000 in the output). Please reduce the length of either one, or use the context-compression plugin",
    ),
    O,
    262144,
  ],
  [400, e('max_tokens must be at least 1, got -3000'), O, null],
  [
    null,
    'litellm.ContextWindowExceededError: AnthropicException - prompt is too long: 250000 tokens > 200000 maximum',
    O,
    200000,
  ],
  [
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
          provider_name: 'Anthropic',
        },
      },
    },
    O,
    200000,
  ],
  [
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: {
            error: {
              message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
            },
          },
        },
      },
    },
    O,
    8192,
  ],
  [
    400,
    {
      error: {
        message: JSON.stringify({
          error: {
            message: JSON.stringify({
              error: {
                message: 'The input token count (40000) exceeds the maximum number of tokens allowed (32768).',
                code: 400,
              },
            }),
            code: 400,
          },
        }),
      },
    },
    O,
    32768,
  ],
  [
    400,
    {
      error: {
        message:
          "Error code: 400 - {'error': {'message': \"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.\", 'type': 'invalid_request_error', 'code': 'context_length_exceeded'}}",
      },
    },
    O,
    8192,
  ],
  [400, '', O, null],
  [413, '', O, null],
  [400, '400 status code (no body)', O, null],
  [200, { error: { code: 400, message: 'prompt is too long: 250000 tokens > 200000 maximum' } }, O, 200000],
  [
    400,
    e(
      "You requested 128000 output tokens and your prompt contains at least 3073 input tokens, for a total of at least 131073 tokens. This model's maximum context length is 131072 tokens.",
    ),
    O,
    131072,
  ],
  [400, e('Your prompt contains at least 5000 input tokens, which is over the context window'), O, null],
  [400, e('Context overflow: the conversation does not fit into the context window'), O, null],
  [
    400,
    e(
      'too many tokens: size limit exceeded by 4321 tokens. Try using shorter or fewer inputs. The limit for this model is 4096 tokens.',
    ),
    O,
  ],
  [400, e('The text is too long: it has 9,000 tokens, whereas the limit is 8,192 tokens.'), O],
  [400, e("The number of tokens in the prompt (9000) exceeds the model's limit (8192)"), O],
  [400, e('Input has 9000 tokens which exceeds the limit of 8192 tokens'), O, 8192],
  [400, e('Sequence length 9000 exceeds maximum allowed 8192'), O],
  [400, e("Der Prompt: This model's maximum context length is 131.072 tokens. You sent 140.000 tokens."), O, 131072],
  [400, e('maximum context length is 128k tokens, however you requested 140000 tokens'), O, null],
  [503, e('Model overloaded: context size exceeded in slot 3', { type: 'server_error' }), O, null],

  [
    429,
    e(
      'Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    R,
  ],
  [null, 'ThrottlingException: Too many tokens per day, please wait before trying again.', R],
  [400, 'Too many tokens, please wait before trying again.', R],
  [429, e("This request would exceed your organization's rate limit of 40,000 input tokens per minute"), R],
  [429, e('Number of request tokens has exceeded your per-minute rate limit'), R],
  [429, e("This model's maximum context length is 4096 tokens. However, you requested 5000"), R],
  [
    413,
    e(
      'Request too large for model `x` on tokens per minute (TPM): Limit 8000, Requested 32979, please reduce your message size and try again.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    R,
  ],
  [400, e('Request too large for model x on input tokens per minute: limit 8000, requested 9000'), R],
  [429, '', R],
  [429, e('Resource has been exhausted (e.g. check quota).', { status: 'RESOURCE_EXHAUSTED' }), R],
  [
    429,
    {
      error: {
        code: 429,
        message:
          'You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: x, limit: 15\nPlease retry in 17.9s.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }],
      },
    },
    R,
  ],
  [503, { message: 'ThrottlingException: Rate exceeded' }, R],
  [400, { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded, please try again later.' }, R],
  [200, { error: { code: 'rate_limit_exceeded', message: 'slow down' } }, R],
  [403, { error: { errors: [{ reason: 'rateLimitExceeded' }], code: 403, message: 'Rate Limit Exceeded' } }, R],
  [400, e('请求过于频繁，请稍后再试'), R],

  [
    429,
    e('You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
    Q,
  ],
  [429, e('You exceeded your current quota, please check your plan and billing details.'), Q],
  [402, e('Insufficient Balance'), Q],
  [402, '', Q],
  [
    400,
    e(
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    Q,
  ],
  [
    402,
    e(
      'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234.',
    ),
    Q,
  ],
  [403, e('You have exceeded your monthly token limit'), Q],

  [
    400,
    e('max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022'),
    U,
  ],
  [
    400,
    e(
      'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
      { param: 'max_tokens', code: 'invalid_value' },
    ),
    U,
  ],
  [
    400,
    e("Invalid 'max_tokens': integer above maximum value. Expected a value <= 8192, but got 100000 instead.", {
      param: 'max_tokens',
      code: 'integer_above_max_value',
    }),
    U,
  ],
  [
    400,
    {
      message:
        'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
    },
    U,
  ],
  [
    400,
    e(
      'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.',
    ),
    U,
  ],
  [400, e('<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]'), U],
  [
    400,
    e(
      '`max_completion_tokens` must be less than or equal to `32768`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model',
    ),
    U,
  ],
  [422, { error: '`max_new_tokens` must be <= 1024. Given: 4096' }, U],
  [
    400,
    e(
      "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 8192 tokens and your request has 4104 input tokens (5000 > 8192 - 4104).",
    ),
    U,
    8192,
  ],
  [400, e('max_tokens (100000) exceeds the maximum output length of 32000'), U],
  [
    400,
    e(
      "This model's maximum context length is 6144 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion.",
    ),
    U,
    6144,
  ],
  [400, e('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'), U],
  [400, e('max_tokens 参数超过最大值 4096'), U],
  [400, e('The requested number of output tokens exceeds the maximum of 4096'), U],
  [400, e('max_output_tokens cannot be greater than 8192'), U],

  [400, e('Request payload size exceeds the limit: 20971520 bytes.'), P],
  [
    413,
    '<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413 Request Entity Too Large</h1></center><hr><center>nginx</center></body></html>',
    P,
  ],
  [413, e('Payload Too Large'), P],
  [400, e('messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes'), P],
  [400, e('The image size exceeds the limit'), P],
  [400, 'total message size 3000000 exceeds limit 2097152', P],
  [
    400,
    e(
      "Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2000000 instead.",
      { code: 'string_above_max_length' },
    ),
    P,
  ],
  [
    422,
    {
      detail: [
        {
          type: 'string_too_long',
          loc: ['body', 'messages', 0],
          msg: 'String should have at most 100000 characters',
          input: 'maximum context length is 8 tokens',
          ctx: { max_length: 100000 },
        },
      ],
    },
    P,
  ],
  [400, 'messages.1.content.0.image: At least one of the image dimensions exceed max allowed size: 8000 pixels', P],
  [400, e('Input is too long: 5000000 characters exceed the limit of 1000000 characters'), P],
  [
    413,
    e('Request exceeds the maximum allowed number of bytes. The maximum request size is 32 MB.', {
      type: 'request_too_large',
    }),
    P,
  ],
  [400, e('File too large: at most 25MB'), P],
  [413, 'something odd', P],
  [400, e('Request size limit exceeded'), P],

  [400, e('max_tokens must be at least 1, got 0'), B],
  [
    400,
    e("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
      code: 'unsupported_parameter',
      param: 'max_tokens',
    }),
    B,
  ],
  [400, e('`max_tokens` must be greater than `thinking.budget_tokens`.'), B],
  [400, e('context_window must be a positive integer'), B],
  [400, e('num_ctx must be less than or equal to 32768'), B],
  [400, e("Unknown parameter: 'context_length'"), B],
  [400, e("Invalid value: 'prompt is too long: 5 tokens > 4 maximum'. Supported values are: 'auto' and 'none'."), B],
  [
    422,
    {
      detail: [
        {
          type: 'missing',
          loc: ['body', 'messages'],
          msg: 'Field required',
          input: { content: 'context_length_exceeded: prompt is too long: 10 tokens > 5 maximum' },
        },
      ],
    },
    B,
  ],
  [400, e('Total number of tools exceeds the limit of 128'), B],
  [400, e('Number of stop sequences exceeds the limit of 4'), B],
  [400, e('The number of messages exceeds the maximum of 2048'), B],
  [400, e('Tool name exceeds maximum length of 64'), B],
  [400, e('The conversation has exceeded the maximum number of turns (50)'), B],
  [400, e('Schema exceeds maximum nesting depth of 5'), B],
  [
    400,
    e(
      'messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ),
    B,
  ],
  [
    400,
    e("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."),
    B,
  ],
  [
    400,
    e(
      "litellm.BadRequestError: OpenAIException - Unsupported value: 'temperature'. Error doing the fallback: litellm.ContextWindowExceededError: prompt is too long: 209303 tokens > 200000 maximum",
    ),
    B,
  ],
  [
    400,
    e(
      "Attempt 1: messages with role 'tool' must follow tool_calls; Attempt 2: This model's maximum context length is 8192 tokens, however you requested 9000",
    ),
    B,
  ],
  [
    400,
    e(
      'BadRequestError: roles must alternate user/assistant\nContextWindowExceededError: prompt is too long: 9000 tokens > 8192 maximum',
    ),
    B,
  ],
  [400, e('This model does not support image input'), B],
  [400, e('Extra inputs are not permitted'), B],
  [400, e('Invalid JSON in function arguments: Expecting property name enclosed in double quotes'), B],
  [400, e('Conversation roles must alternate user/assistant/user/assistant/...'), B],
  [400, e('Missing reasoning_content field in the assistant message at message index 2.'), B],
  [400, e('The long context beta is not yet available for this subscription.'), B],
  [400, e('Long-context requests need the header anthropic-beta: context-1m'), B],
  [400, e('prompt_cache_key exceeds maximum length 64'), B],
  [400, e('Invalid request Error', { type: 'invalid_request_error' }), B],
  [400, e('Too many images: at most 20 images per request'), B],
  [400, e('Please limit the number of input messages'), B],
  [400, e('You must provide a model parameter within the request context'), B],
  [400, e('The input contains an unexpected token at position 500, expected a number less than 100'), B],
  [400, e('Unexpected token } in JSON at position 5000'), B],
  [400, e('logprobs: top_logprobs must be less than or equal to 20'), B],
  [400, e('n must be <= 1 for this context'), B],
  [400, e('Input text failed validation: language model inputs must be greater than 0 tokens'), B],
  [500, e('maximum recursion depth exceeded while calling a Python object'), V],
  [504, e('Request timed out while processing the context'), V],
  [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, V],
  [200, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, V],
  [503, e('Model is currently loading, please try again in 20s'), V],
  [500, '<html><head><title>500 Internal Server Error</title></head></html>', V],
  [
    200,
    {
      choices: [],
      error: { code: 502, message: 'Provider returned error', metadata: { error_type: 'provider_unavailable' } },
    },
    V,
  ],
  [408, '', V],
  [500, '', V],
  [401, e('Incorrect API key provided: sk-proj-abcdefghijkl1234.', { code: 'invalid_api_key' }), A],
  [403, e('permission denied'), A],
  [401, '', A],
  [404, e('The model `gpt-9` does not exist or you do not have access to it.', { code: 'model_not_found' }), C],
  [404, '404 page not found', C],
  [400, e('gpt-9 is not a valid model ID'), C],
  [404, '<html><title>Not found</title></html>', 'not_an_api'],
  [200, '<!doctype html><title>Login</title>', 'not_an_api'],
  [
    400,
    {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
    F,
  ],
  [400, e('Your request was flagged by our safety system'), F],
  [400, e('This model supports a maximum context of 32768 tokens; your request used 40000 tokens.'), O],
  [400, e('The prompt is longer than the context window (8192).'), O, 8192],
  [400, e('Your prompt (210000 tokens) is longer than the 200000 token maximum'), O],
  [400, e('Prompt tokens exceed model limit: 9000 > 8192'), O, 8192],
  [400, e('input is too large for the model: 9000 tokens (max 8192)'), O],
  [400, e("The total tokens (9000) exceed the model's maximum (8192)"), O],
  [400, e('Context length limit reached: 8192'), O],
  [400, e('n_prompt_tokens 9000 > n_ctx 8192'), O, 8192],
  [400, e('the request is larger than the available context'), O],
  [400, e('Model context limit is 8192, got 9001 tokens'), O, 8192],
  [400, e('Current length is 42328 while limit is 40000'), O, 40000],
  [400, e('requested 5000 tokens, but the context only holds 4096'), O],
  [400, e('maximum sequence length is 2048 tokens but input has 3000'), O, 2048],
  [400, e('Input too long. Max length is 4096 tokens'), O, 4096],
  [400, e('The input exceeds the maximum number of tokens'), O],
  [400, e('Messages have 201234 tokens, which exceeds the max limit of 200000 tokens.'), O, 200000],
  [400, e('Prompt has 300000 tokens, but the configured context size is 131072.'), O, 131072],
  [400, e('Request exceeds the maximum number of input tokens for this model (200,000)'), O],
  [400, e('The context window of this model (8192 tokens) has been exceeded'), O],
  [400, e("Your input is longer than this model's context window allows"), O],
  [500, e('context size exceeded'), O],
  [500, e('the prompt does not fit in the context: 9000 vs 8192'), O],
  [502, e('upstream: prompt is too long: 300000 tokens > 262144 maximum'), O, 262144],
  [400, e('The input of 9,412 tokens is above the model limit of 8,192 tokens'), O],
  [
    400,
    e(
      "This model's max context window is 65536 tokens, but you asked for 70000 tokens (62000 in your messages + 8000 in the completion)",
    ),
    O,
    65536,
  ],
  [400, e('El prompt: prompt is too long — 210000 tokens > 200000 maximum'), O, 200000],
  [400, e('prompt is too long： 208310 tokens ＞ 200000 maximum'), O, 200000],
  [400, e('Number of tokens (9000) exceeds the maximum context size (8192)'), O, 8192],
  [400, e('context window exceeded: 210000/200000 tokens'), O],
  [400, e('Total input length 300000 exceeds limit 262144'), O],
  [400, e('The value of max_tokens may not exceed 4096'), U],
  [400, e('completion token limit: max_tokens=9000 exceeds allowed 8192'), U],
  [400, e('max output tokens exceeds the allowed maximum of 8192'), U],
  [400, e('maximum output tokens is 8192 for this model, requested 16000'), U],
  [400, e('Requested output of 50000 tokens exceeds output limit'), U],
  [400, e('max_tokens value 200000 is higher than the limit of 131072 for this model'), U],
  [400, e('Invalid max_tokens: 200000. Must be between 1 and 131072'), U],
  [400, e('Parameter max_completion_tokens out of range, the range is [1, 65536]'), U],
  [400, e("`max_tokens` (9000) can't be larger than 8192"), U],
  [400, e('This model can generate at most 8192 tokens; max_tokens was 16000'), U],
  [413, e('body exceeded 32mb limit'), P],
  [413, e('request body larger than limit'), P],
  [400, e('Payload is 40 MB, the limit is 32 MB'), P],
  [413, 'client intended to send too large body: 105906176 bytes', P],
  [400, e('Image dimension exceeds 8000px'), P],
  [400, e('The request body exceeds the 10MB limit'), P],
  [400, e('Invalid image: file size 12.3MB exceeds maximum of 10MB'), P],
  [400, e('total message size 2,100,954 exceeds limit 2,097,152'), P],
  [400, e('total size of the messages 5000000 exceeds limit 4194304'), P],
  [400, e('Request too large'), P],
  [400, e('String value length (50000000) exceeds the maximum length (20000000)'), P],
  [429, e('Quota exceeded: tokens_per_minute'), R],
  [400, e('TPM exceeded: try again in 12 seconds'), R],
  [429, e('Too many requests in flight'), R],
  [400, e('You are being throttled'), R],
  [429, { detail: 'Request was throttled. Expected available in 12 seconds.' }, R],
  [400, e('Limit of 60 requests/min reached'), R],
  [400, e('input tokens per minute limit (40000) exceeded'), R],
  [
    400,
    e('Your account has reached its tokens-per-minute limit: prompt of 9000 tokens exceeds the remaining 500 tokens'),
    R,
  ],
  [
    413,
    e('Request too large for gpt-x: tokens per min limit 30000, requested 99000. Reduce the length of the messages'),
    R,
  ],
  [503, e('Rate limit exceeded while the context window is being loaded'), R],
  [400, e("Invalid 'context_window': must be less than 200000"), B],
  [400, e('tool_choice is set but the context has no tools'), B],
  [400, e('The number of images in the prompt exceeds the maximum of 10'), B],
  [400, e('temperature must be less than or equal to 2'), B],
  [400, e('tools: maximum number of items is 128'), B],
  [400, e("Tool 'read' schema exceeds limit: 100 properties maximum"), B],
  [400, e('stop: too long'), B],
  [400, e('function name is too long, max 64'), B],
  [400, e('Input validation error: `top_p` must be > 0.0 and < 1.0'), B],
  [400, e('assistant message prefill is not supported with this context'), B],
  [400, e('messages: at least one message is required'), B],
  [400, e('messages: final assistant content cannot end with trailing whitespace'), B],
  [400, e('The `token` parameter exceeds its maximum length'), B],
  [400, e('The prompt template variable exceeds the permitted depth'), B],
  [400, e('thinking budget exceeds max'), B],
  [400, e('thinking.budget_tokens must be less than max_tokens'), B],
  [400, e('max_tokens: Field required'), B],
  [400, e('max_tokens and messages are required'), B],
  [400, e('prompt and max_tokens must be set'), B],
  [400, e('cache_control: a maximum of 4 blocks with cache_control may be provided. Found 5.'), B],
  [400, e('Context caching needs a minimum of 4096 tokens, but the input has 1000 tokens'), B],
  [400, e('The cached content is of 2000 tokens. The minimum token count to start caching is 4096.'), B],
  [401, e('token limit exceeded: your key expired'), A],
  [500, e('Traceback: KeyError context'), V],
  [500, e('the server had an error while processing your request; messages over the queue limit'), V],
  [503, e('That model is currently overloaded with other requests'), V],
  [200, { error: { message: 'Internal server error', type: 'server_error' } }, V],
  [500, e('Maximum number of retries exceeded with url: /v1/messages'), V],
  [502, e('context deadline exceeded'), V],
  [500, e('rpc error: code = DeadlineExceeded desc = context deadline exceeded'), V],
  [500, e('context canceled'), V],
  [
    500,
    '{"error":"Post \\"http://x/v1\\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"}',
    V,
  ],

  [
    400,
    e(
      'The maximum context length for this model is 8192 tokens, but your messages resulted in 9000 tokens. Please shorten the messages.',
    ),
    O,
    8192,
  ],
  [
    400,
    e(
      'Maximum context length for this model: 8192 tokens. You asked for 9300 tokens (7300 for the messages, 2000 for the completion).',
    ),
    O,
    8192,
  ],
  [
    429,
    'Request is too large for gpt-5 on tokens per minute (TPM): limit 10000, requested 50000. Reduce input or output tokens to run successfully.',
    R,
  ],
  [400, e('prompt too long: 250000 tokens > 200000 max'), O, 200000],
  [400, e('prompt length and `max_tokens` exceed the context limit: 150000 + 64000 > 200000'), O, 200000],
  [400, { message: 'The input is too long for the requested model.' }, O, null],
  [
    null,
    'An error occurred (validationException) when calling the ConverseStream operation: The input is too long for the model',
    O,
    null,
  ],
  [
    null,
    'ValidationException: the model returned these errors: prompt is too long: 201000 tokens > 200000 maximum',
    O,
    200000,
  ],
  [400, { message: "The number of maximum tokens you requested exceeds the model's limit of 8192" }, U, null],
  [400, e('The input token count (2000000) exceeds the maximum allowed number of tokens (1048576).'), O, 1048576],
  [null, 'Rate limit hit for model `x` on TPM: Limit 12000, Used 11000, Requested 3000. Try again in 12.5s', R],
  [400, e('`max_tokens` for `gemma2` has to be less than or equal to 8192'), U],
  [400, 'The maximum prompt length of this model is 131072, the request contains 140000 tokens.', O, 131072],
  [
    400,
    "'max_tokens' is too large: 3000. This model's maximum context length is 8192 tokens and your request has 6000 input tokens (3000 > 8192 - 6000).",
    U,
    8192,
  ],
  [500, e('The context size has been exceeded', { code: 500, type: 'server_error' }), O, null],
  [
    null,
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32768. Given: 30000 `inputs` tokens and 4000 `max_new_tokens`',
    O,
    32768,
  ],
  [200, { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'context_window_exceeded' }] }, O, null],
  [400, e("Your request exceeded the model's token limit: 131072 (requested: 150000)"), O, 131072],
  [400, 'total messages size 3145728 exceeds the limit 2097152', P],
  [400, e('prompt token count of 200000 is over the limit of 128000'), O, 128000],
  [400, 'Prompt has 12000 tokens, but the context window of the model is 8192 tokens.', O, 8192],
  [400, e('The input (50000 tokens) is longer than the context length of the model (32768 tokens).'), O, 32768],
  [
    400,
    'Please reduce the length of messages or completion. The current length is 50000 while the limit is 32768',
    O,
    32768,
  ],
  [413, '413 (no body)', O, null],
  [null, "Input length (300000) exceeds the model's maximum context length (262144).", O, 262144],
  [null, 'ThrottlingException: Too many tokens, wait before you try again.', R],
  [null, 'Too many tokens. Please wait and try again.', R],
  [
    null,
    'Trying to keep the first 50000 tokens when context overflows. However, the model is loaded with a context length of only 16384 tokens, which is not enough.',
    O,
    16384,
  ],
  [null, 'The number of tokens to keep from the initial prompt exceeds the context length.', O, null],
  [400, 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length', O, 32768],
  [400, 'messages.4: image dimensions exceed max allowed size for many-image requests: 1568 pixels', P],
  [400, e("Invalid 'messages[1].content': string too long. Expected a string of at most 1048576 characters"), P],
  [
    400,
    'String length (30000000) exceeds the maximum allowed (20000000, from `StreamReadConstraints.getMaxStringLength()`)',
    P,
  ],
  [400, 'Invalid max_tokens value, valid range is [1, 8192]', U],
  [
    null,
    'too many tokens: the total number of tokens (prompt and prediction) must not exceed 4096 - received 5000',
    O,
    4096,
  ],
  [
    200,
    {
      choices: [],
      error: {
        code: 502,
        message: 'Worker global total request limit reached (65/64)',
        metadata: { error_type: 'provider_unavailable' },
      },
    },
    V,
  ],
  [400, 'messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1', B],
  [400, 'No user message found in messages', B],
  [400, e('Max tokens per minute exceeded'), R],
  [400, e('This model does not support more than 4096 output tokens'), U],
  [400, e('maximum value for max_tokens is 8192'), U],
  [400, e('max_completion_tokens: must not be greater than 16384'), U],
  [400, e("You've requested too many output tokens (100000). Max is 8192."), U],
  [400, e("Request exceeds the model's context window."), O, null],
  [400, e("This request would exceed the model's context window of 200k tokens"), O, null],
  [400, e('Conversation exceeds the context window (1,048,576 tokens)'), O, 1048576],
  [400, e('The prompt is 9000 tokens long, the model takes 8192 at most'), O],
  [400, e('Token limit exceeded: your prompt has 9000 tokens, the limit is 8192'), O],
  [400, e('exceeds the maximum number of tokens allowed: 9000 > 8192'), O],
  [
    400,
    {
      object: 'error',
      message:
        'The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that max_model_len is no smaller than the number of text tokens.',
      type: 'BadRequestError',
      code: 400,
    },
    O,
    8192,
  ],
  [
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 8192 tokens. However, you requested 0 output tokens and your prompt contains at least 8193 input tokens, for a total of at least 8193 tokens.",
      code: 400,
    },
    O,
    8192,
  ],
  [422, { detail: [{ msg: 'prompt is too long: 9000 tokens > 8192 maximum', type: 'value_error' }] }, O, 8192],
  [400, { error: 'context_length_exceeded' }, O, null],
  [400, { error: { code: 'context_length_exceeded' } }, O, null],
  [
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'messages: text content blocks must be non-empty' },
    },
    B,
  ],
  [
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: '`temperature` and `top_p` cannot both be specified for this model.',
      },
    },
    B,
  ],
  [
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'messages.1.content.0.thinking.signature: Field required' },
    },
    B,
  ],
  [400, e("Invalid schema for function 'x': context_length is not of type integer"), B],
  [400, e('Your organization must be verified to stream this model.'), B],
  [400, e('The model produced invalid content. Consider modifying your prompt.'), B],
  [400, e('The request was rejected: prompt_tokens_details is not a valid field'), B],
  [400, e('Only 8 tools may be used with a prompt of more than 100000 tokens'), B],
  [400, e('logit_bias contains more than 300 tokens'), B],
  [400, e('stop sequences must be less than 4 tokens'), B],
  [400, e('`context_length` is a read-only property of the model'), B],
  [400, e('response_format: json_schema exceeds maximum allowed size'), P],
  [400, e('cached_content token count must match; provided context expired'), B],
  [400, e('Batch size exceeds limit'), B],
  [400, e('number of stop tokens exceeds the limit of 4'), B],
  [400, e('Request contains an invalid argument.', { code: 400, status: 'INVALID_ARGUMENT' }), B],
  [
    500,
    e(
      'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
      { code: 500, status: 'INTERNAL' },
    ),
    V,
  ],
  [503, e('The model is overloaded. Please try again later.', { code: 503, status: 'UNAVAILABLE' }), V],
  [499, e('The operation was cancelled.', { status: 'CANCELLED' }), V],
  [504, e('The request timed out. Please try again.', { status: 'DEADLINE_EXCEEDED' }), V],
  [403, e('Your API key was reported as leaked.', { status: 'PERMISSION_DENIED' }), A],
  [400, e('API key not valid. Please pass a valid API key.', { status: 'INVALID_ARGUMENT' }), A],
  [
    429,
    {
      error: {
        message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
        code: 429,
      },
    },
    R,
  ],
  [429, { error: { code: '1302', message: '您的账户已达到速率限制，请您控制请求频率' } }, R],
  [429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }, Q],
  [400, { error: { code: '1210', message: 'max_tokens 参数非法：取值范围 [1, 4095]' } }, U],
  [400, { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } }, F],
  [400, { error: { message: '提示词过长，请缩短后重试' } }, O],
  [400, { error: { message: '您的输入超出了模型的上下文窗口' } }, O],
];
