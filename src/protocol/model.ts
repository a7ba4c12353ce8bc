import { z } from 'zod';
import { count } from './fields.ts';
import { defineMethod } from './method.ts';

const modelName = { provider: z.string(), model: z.string() };

export const modelList = defineMethod({
  name: 'model.list',
  summary:
    'Answers the providers that are configured and the models that the configuration names, with their limits. A session may ' +
    'name any other model of a provider too.',
  scope: 'read',
  params: z.strictObject({}),
  result: z.strictObject({
    providers: z.array(
      z.strictObject({
        provider: z.string(),
        kind: z
          .string()
          .describe('How it is spoken to: `openai`, `openai-compatible`, `anthropic`, `google` or `demo`.'),
        base_url: z.string().nullable().describe('What session.create takes as `base_url`; null for the demo model.'),
        has_key: z.boolean(),
      }),
    ),
    models: z.array(
      z.strictObject({
        ...modelName,
        default: z.boolean().describe('Whether a session that names no model gets this one.'),
        context_tokens: count.describe('Its window, input and output together.'),
        context_source: z.string().describe('Where that number comes from; `default` means that nobody knows it.'),
        output_tokens: count.nullable().describe('The most tokens of one answer, where they are known.'),
        images: z.boolean().nullable().describe('Whether it takes images; null where nobody says.'),
        files: z.boolean().nullable().describe('Whether it takes files that are no text; null where nobody says.'),
        fallbacks: z.array(z.strictObject(modelName)).describe('Who is asked when it cannot answer, in this order.'),
      }),
    ),
  }),
  errors: [],
  order: 'any',
});
