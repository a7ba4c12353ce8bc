import { z } from 'zod';
import { count, seconds, tokenCount } from './values.ts';

export const compressionSection = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether long transcripts are compressed without being asked. By hand it always works.'),
    protect_first_n: count(3, 0, 10_000).describe('How many messages at the beginning are never summarised.'),
    protect_last_n: count(20, 0, 10_000).describe(
      'How many messages at the end are kept as they are, as far as they fit half of the trigger.',
    ),
    threshold: z
      .number()
      .gt(0)
      .max(1)
      .default(0.8)
      .describe('The part of the context window that a request may fill before the transcript is compressed.'),
    threshold_tokens: tokenCount.describe(
      'The same as a number of tokens. The smallest counts: this, `threshold`, and 90 % of the window without the reserve for the answer.',
    ),
    summary_timeout_seconds: seconds(120, 1, 3600).describe('The longest that one request for a summary may take.'),
    learnt_window_days: z
      .number()
      .min(0)
      .max(365)
      .default(7)
      .describe(
        'How long the context window that a provider has stated in a refusal is believed, where it is smaller than the known one. 0: not at all, also what was learnt before.',
      ),
    in_place: z
      .boolean()
      .default(false)
      .describe(
        'Compress inside the same transcript instead of going on in a child. The session keeps its id either way.',
      ),
  })
  .prefault({})
  .describe('When and how long transcripts are compressed.');
