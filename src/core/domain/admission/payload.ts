import type { PromptPayload } from './admission.ts';

/** The text that a payload's digest covers: keys in a fixed order, nothing that the client didn't say. */
export function canonicalPayload(payload: PromptPayload): string {
  return JSON.stringify([payload.text, payload.parts]);
}
