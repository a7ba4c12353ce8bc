import { z } from 'zod';

/* The small types that every part of the protocol is made of. */

const anyId = z
  .string()
  .min(1)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters');

/** An id that the gateway made or that names something it keeps. */
export const id = anyId.max(200);

export const sessionId = id.describe("The session's id, or the id of any transcript of its lineage.");

/**
 * The client's own id for a prompt. `~` is kept for the ids that a retry makes. Half a surrogate pair has no UTF-8 form,
 * so two such ids would be one on disk.
 */
export const inputId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^~\p{Cc}\p{Cs}]*$/u, 'must not contain "~" or control characters')
  .describe("The client's own id for this prompt. The same id with the same content is the same admission for ever.");

/** An id that is read back: a retry's input id is the longest one that a client may choose, a `~` and a number. */
export const knownInputId = anyId.max(230).describe("The input id of a prompt, also that of a retry ('<id>~<n>').");

/** Text that survives storage unchanged: half a surrogate pair would not. */
export const text = z
  .string()
  .min(1)
  .regex(/^\P{Cs}*$/u, 'contains half of a surrogate pair, which has no UTF-8 form');

/** One line for people: a title, a reason, a path. */
export const line = (maxLength: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text');

export const seq = z.int().min(0).describe("A session's sequence number; 0 is before its first event.");
export const generation = z.int().min(0).describe('An execution generation of the session.');
export const revision = z.int().min(0);
export const count = z.int().min(0);
export const instant = z.iso.datetime().describe('ISO 8601 in UTC.');

export const pageSize = (standard: number, max: number): z.ZodDefault<z.ZodInt> =>
  z.int().min(1).max(max).default(standard);

export const cursor = z.string().min(1).max(300).describe('The `next_cursor` of an earlier page.');
