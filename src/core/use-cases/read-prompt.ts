import type { Admission } from '../domain/admission/admission.ts';
import { canonicalPayload } from '../domain/admission/payload.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import { textDraft } from '../domain/transcript/message.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { Digest } from '../ports/digest.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { TokenCounter } from '../ports/token-counter.ts';

/** Reads an admission's prompt as a message to be stored. One that is not what was accepted is never sent. */
export async function readPrompt(
  deps: { readonly ledger: Pick<Ledger, 'readPayload'>; readonly digest: Digest; readonly tokens: TokenCounter },
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

/** What an image costs where nobody says: the size of a large picture with the known vendors. */
const imageTokens = 1600;

function partTokens(parts: MessageDraft['parts']): number {
  return (parts ?? []).reduce((sum, part) => {
    if (part.type === 'image') return sum + imageTokens;
    if (part.type === 'file') return sum + Math.ceil(part.data.length / 4);
    return sum;
  }, 0);
}
