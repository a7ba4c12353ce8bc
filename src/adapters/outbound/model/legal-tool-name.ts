/** What every provider takes, and OpenAI's is the narrowest: https://platform.openai.com/docs/api-reference/chat. */
const longestName = 64;
const legal = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The name of a called tool as every vendor takes it in a conversation. The tools that are offered have such names; a model
 * may have called another. It is the same in every later request, and for a call and its result.
 */
export function legalToolName(name: string): string {
  if (legal.test(name)) return name;
  const cleaned = name.replace(/[^a-zA-Z0-9_-]+/g, '_');
  return (/^[a-zA-Z_]/.test(cleaned) ? cleaned : `_${cleaned}`).slice(0, longestName);
}
