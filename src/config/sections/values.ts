import { z } from 'zod';

/** What several sections have in common: numbers with their bounds, addresses. A bound keeps a typing error from being taken at its word. */

export function count(fallback: number, least: number, most: number) {
  return z.int().min(least).max(most).default(fallback);
}

export function seconds(fallback: number, least: number, most: number) {
  return z.number().min(least).max(most).default(fallback);
}

export const tokenCount = z.int().min(1).max(100_000_000).nullable().default(null);

/** An HTTP address without a key in it: a key belongs to the environment. */
export const baseUrl = z.string().superRefine((text, context) => {
  const problem = baseUrlProblem(text);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

/** None of the answers repeats the address, since a wrong one may hold a key. */
function baseUrlProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'must be an address such as http://127.0.0.1:8000/v1';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://';
  if (url.username !== '' || url.password !== '') {
    return 'must not hold a user or a password; put the key into the environment';
  }
  if (url.search !== '' || url.hash !== '') return 'must end with its path, without ? and #';
  return null;
}
