import { z } from 'zod';
import { count, id, instant, line, text } from './fields.ts';

/** What a provider says that a request cost, in tokens; null where it said nothing. */
export const usage = z.strictObject({
  input_tokens: count.nullable(),
  output_tokens: count.nullable(),
  total_tokens: count.nullable(),
});
export type WireUsage = z.output<typeof usage>;

const mediaType = z
  .string()
  .max(100)
  .regex(/^[a-z]+\/[a-z0-9.+-]+$/i, 'must be a media type such as image/png');

/** What every vendor that takes images takes. */
const imageType = z
  .string()
  .regex(/^image\/(?:png|jpeg|gif|webp)$/i, 'must be image/png, image/jpeg, image/gif or image/webp');

const base64 = z
  .string()
  .min(1)
  .refine((data) => data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data), 'must be base64');

/** A part of a prompt. `text` is for prompts that are nothing else; parts are for those that are more. */
export const promptPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text }),
  z.strictObject({ type: z.literal('image'), media_type: imageType, data: base64 }),
  z.strictObject({ type: z.literal('file'), media_type: mediaType, data: base64, name: line(200).optional() }),
]);
export type WirePromptPart = z.output<typeof promptPart>;

/** What a prompt says, in the parameters of the methods that bring one. */
export const promptContent = {
  text: text.optional().describe('The prompt, when it is nothing but text.'),
  parts: z
    .array(promptPart)
    .min(1)
    .max(100)
    .optional()
    .describe(
      'The prompt, when it is more than text. What the model of the session is known not to take is refused as `invalid_params`, part by part.',
    ),
};

export function hasOneContent(params: { readonly text?: unknown; readonly parts?: unknown }): boolean {
  return (params.text === undefined) !== (params.parts === undefined);
}

export const eitherContent = { error: 'needs either text or parts', path: ['text'] };

/** A part of a message that is shown. Data is described and not carried: it would not fit an event. */
const shownPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), media_type: z.string(), bytes: count }),
  z.strictObject({ type: z.literal('file'), media_type: z.string(), bytes: count, name: z.string().optional() }),
]);
export const shownParts = z.array(shownPart).optional().describe('Only where there is more than text.');
export type WireShownPart = z.output<typeof shownPart>;

export const message = z.strictObject({
  id: count.describe('Grows within a session, in transcript order.'),
  origin_id: count.describe('The message of which this one is a copy; its own id when it is no copy.'),
  role: z.enum(['user', 'assistant', 'tool']),
  kind: z.enum(['prompt', 'steer', 'answer', 'tool', 'summary', 'note']),
  text: z.string(),
  parts: shownParts,
  tool_calls: z
    .array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() }))
    .optional()
    .describe("The arguments are the model's own text."),
  tool_call_id: z.string().optional(),
  partial: z.boolean().describe('True for an answer that was not finished.'),
  truncated: z.literal(true).optional().describe('Something of the content was cut; the whole is in the history.'),
  admission_id: id.nullable(),
  tokens: count,
  usage: usage.optional(),
  finish_reason: z.string().optional(),
  answered_by: z
    .strictObject({ provider: z.string(), model: z.string() })
    .optional()
    .describe('The model that gave an answer. With fallbacks it need not be that of the session.'),
  at: instant,
});
export type WireMessage = z.output<typeof message>;
