import { z } from 'zod';
import { tokenCount } from './values.ts';

/** What can be said of one model, wherever its name stands. */

export const fallbacks = z
  .array(
    z.strictObject({
      provider: z.string().describe('A configured provider.'),
      model: z.string().min(1).describe('One of its models.'),
    }),
  )
  .max(10)
  .default([])
  .describe(
    'The models that are asked in turn when a request fails before anything of its answer came: a limit, an outage, a refused key.',
  );

export const askedOfModel = {
  temperature: z.number().min(0).max(2).nullable().default(null).describe("Its temperature. Default: the provider's."),
  reasoning_effort: z
    .enum(['none', 'minimal', 'low', 'medium', 'high'])
    .nullable()
    .default(null)
    .describe("How much it thinks before it answers. Default: the provider's."),
  images: z
    .boolean()
    .nullable()
    .default(null)
    .describe('Whether it takes images. Prompts with images are refused where it does not.'),
  files: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether it takes files that are no text, such as PDF. Prompts with such files are refused where it does not.',
    ),
  alternating_roles: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether its server demands that user and assistant take turns: neighbours of one role then go out as one message. Default: that is found out by its first refusal.',
    ),
};

export const modelEntry = z.strictObject({
  context_length: tokenCount.describe(
    'Its context window in tokens, input and output together. It overrides the catalogue.',
  ),
  max_output_tokens: tokenCount.describe('The most tokens of one answer. They are reserved in the window.'),
  ...askedOfModel,
  options: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("Options that only the vendor's own interface knows, handed on as they are."),
  fallbacks,
});
