import { z } from 'zod';
import { askedOfModel, fallbacks, modelEntry } from './model-settings.ts';
import { baseUrl, count, seconds, tokenCount } from './values.ts';

/** Names that a configuration can't give to a provider of its own. */
export const builtInProviders = ['custom', 'demo'] as const;

const providerKinds = ['openai', 'openai-compatible', 'anthropic', 'google'] as const;
export type ProviderKind = (typeof providerKinds)[number];

const timeouts = z
  .strictObject({
    first_byte_seconds: seconds(120, 0.001, 3_600).describe(
      'The longest wait for the first byte of an answer. Raise it for a local model that loads first.',
    ),
    idle_seconds: seconds(120, 0.001, 3_600).describe(
      'The longest silence inside an answer; after it the request has failed with `stalled`.',
    ),
    total_seconds: seconds(1_800, 0.001, 86_400).describe('The longest time for one request, however lively.'),
  })
  .prefault({})
  .describe('How long a request to a model may take.');

const retries = z
  .strictObject({
    max_attempts: count(4, 1, 100).describe('Tries of one request in all. 1: it is never tried again.'),
    base_seconds: seconds(1, 0.001, 3_600).describe(
      'The wait before the second try, with jitter; it doubles with each further one.',
    ),
    max_wait_seconds: seconds(60, 0.001, 86_400).describe(
      'The longest single wait. When the provider asks for a longer one, the turn fails and says so.',
    ),
    total_seconds: seconds(300, 0.001, 86_400).describe('The longest time from the first try to the last.'),
  })
  .prefault({})
  .describe('What happens to a request that fails in passing, before anything of its answer is stored.');

export const modelSection = z
  .strictObject({
    provider: z
      .string()
      .nullable()
      .default(null)
      .describe(
        'The default provider: `custom` (an OpenAI-compatible server at `base_url`, with the key in `OPENAI_API_KEY`), a name ' +
          'from `providers`, or `demo`. Without one the built-in offline demo model answers.',
      ),
    default: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe('The model of a session that names none. Needed with every provider but `demo`.'),
    base_url: baseUrl.nullable().default(null).describe('The address of `provider: custom`.'),
    context_length: tokenCount.describe(
      'The context window of `default` in tokens, input and output together. It overrides the catalogue.',
    ),
    max_output_tokens: tokenCount.describe(
      "The most tokens of one answer. They are reserved in the window. Without it: the catalogue's number, at most a quarter of the window.",
    ),
    ...askedOfModel,
    fallbacks,
    timeouts,
    retries,
  })
  .prefault({})
  .describe('The model that answers.');

const provider = z.strictObject({
  kind: z
    .string()
    .superRefine((kind, context) => {
      if (providerKinds.some((known) => known === kind)) return;
      const message = `this kind of provider is not supported by this version; supported: ${providerKinds.join(', ')}`;
      context.addIssue({ code: 'custom', message });
    })
    .describe('How the server is spoken to: `openai`, `openai-compatible`, `anthropic` or `google`.'),
  interface: z
    .enum(['responses', 'chat'])
    .nullable()
    .default(null)
    .describe('Which interface of `kind: openai`. Default: `responses`.'),
  base_url: baseUrl
    .nullable()
    .default(null)
    .describe(
      "Its address, which its key goes to and no other. Default: the vendor's own; `openai-compatible` has none.",
    ),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not the key itself')
    .nullable()
    .default(null)
    .describe('The name of the environment variable that holds its key. Without it and without a file no key is sent.'),
  api_key_file: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('The file that holds its key and nothing else; a relative path starts in the home folder.'),
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header'),
      z.string().regex(/^[^\r\n\0]*$/, 'must be one line'),
    )
    .default({})
    .describe('Headers that are added to each request. Their values count as secrets.'),
  models: z
    .record(z.string().min(1), modelEntry)
    .default({})
    .describe('What is to be known of single models, by their names. Others can be used all the same.'),
  fallbacks,
});

export const providersSection = z
  .record(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]*$/, 'must consist of small letters, digits, `-`, `_` and `.`')
      .refine((name) => !builtInProviders.some((builtIn) => builtIn === name), 'is the name of a built-in provider'),
    provider,
  )
  .default({})
  .describe('More providers, by name. A session may choose one of them.');

const auxiliaryModel = {
  provider: z.string().nullable().default(null).describe("Its provider. Default: the session's own."),
  model: z.string().min(1).nullable().default(null).describe("Its model. Default: the session's own."),
  base_url: baseUrl.nullable().default(null).describe('The address of `provider: custom`. Default: `model.base_url`.'),
};

export const auxiliarySection = z
  .strictObject({
    compression: z.strictObject(auxiliaryModel).prefault({}).describe('The model that writes summaries.'),
    title_generation: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe(
            'Whether a session without a title gets one after its first answer. Costs one short request for each session.',
          ),
        ...auxiliaryModel,
      })
      .prefault({})
      .describe('The model that gives titles to sessions.'),
  })
  .prefault({})
  .describe('Models for work beside the conversation.');
