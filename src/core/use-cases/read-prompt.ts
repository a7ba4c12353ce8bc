import type { Admission } from '../domain/admission/admission.ts';
import { canonicalPayload } from '../domain/admission/payload.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import type { Command } from '../domain/session/commands.ts';
import { charactersOf, maxPageCharacters } from '../domain/transcript/content-page.ts';
import { textDraft } from '../domain/transcript/message.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { Digest } from '../ports/digest.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { TokenCounter } from '../ports/token-counter.ts';

interface PromptDependencies {
  readonly ledger: Pick<Ledger, 'readPayload'>;
  readonly digest: Digest;
  readonly tokens: TokenCounter;
}

/** Reads an admission's prompt as a message to be stored. One that is not what was accepted is never sent. */
export async function readPrompt(
  deps: PromptDependencies,
  { admissionId, payloadDigest }: Admission,
): Promise<MessageDraft | Failure> {
  const stored = await deps.ledger.readPayload(admissionId);
  if (stored === null || deps.digest.of(canonicalPayload(stored.payload)) !== payloadDigest) {
    return failureOf('payload_corrupt', 'The stored prompt is not the one that was accepted. It was not sent.');
  }
  const { text, parts } = stored.payload;
  const count = (await deps.tokens.count([text]))[0] ?? 0;
  const tokens = count + messageOverheadTokens + partTokens(parts);
  return { ...textDraft({ role: 'user', kind: 'prompt', text, tokens, admissionId }), parts };
}

/**
 * Reads the first of these steers as messages of their turn, as many as make a page, and says which are left. One whose
 * stored text is not what was accepted stays behind, and ends with the turn.
 */
export async function readSteers(
  deps: PromptDependencies,
  waiting: readonly Admission[],
  turn: string,
): Promise<{ readonly steers: Command<'merge_steers'>['steers']; readonly rest: readonly Admission[] }> {
  const steers: { admissionId: string; message: MessageDraft }[] = [];
  let characters = 0;
  for (const [index, steer] of waiting.entries()) {
    const prompt = await readPrompt(deps, steer);
    if ('reason' in prompt) continue;
    steers.push({ admissionId: steer.admissionId, message: { ...prompt, kind: 'steer', admissionId: turn } });
    characters += charactersOf(prompt);
    if (characters > maxPageCharacters) return { steers, rest: waiting.slice(index + 1) };
  }
  return { steers, rest: [] };
}

/** What an image costs where nobody says: the size of a large picture with the known vendors. */
const imageTokens = 1600;

function partTokens(parts: MessageDraft['parts']): number {
  return (parts ?? []).reduce((sum, part) => {
    if (part.type === 'image') return sum + imageTokens;
    if (part.type === 'file') return sum + Math.ceil(part.data.length / 4);
    return sum;
  }, 0);
}
