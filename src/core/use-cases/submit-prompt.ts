import type { PromptPayload } from '../domain/admission/admission.ts';
import { canonicalPayload } from '../domain/admission/payload.ts';
import type { Receipt } from '../domain/admission/receipt.ts';
import type { Command } from '../domain/session/commands.ts';
import type { Digest } from '../ports/digest.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Sent, Sessions } from './sessions.ts';

export interface SubmitPromptInput {
  readonly sessionId: string;
  readonly principalId: string;
  /** The client's id for this prompt; it must not contain `~`. */
  readonly inputId: string;
  readonly payload: PromptPayload;
}

/** Takes a prompt into its session's queue. The receipt comes after the commit (P1) and is the same for ever (P2). */
export type SubmitPrompt = (input: SubmitPromptInput) => Promise<Sent<Receipt>>;

export function makeSubmitPrompt(deps: {
  readonly sessions: Sessions;
  readonly digest: Digest;
  readonly ids: IdSource;
}): SubmitPrompt {
  return (input) => {
    const prompt = newPrompt(deps, input);
    return deps.sessions.send(input.sessionId, { kind: 'submit', ...prompt, requestDigest: prompt.payloadDigest });
  };
}

/** What every command that brings a prompt says of it. */
export function newPrompt(
  { digest, ids }: { readonly digest: Digest; readonly ids: IdSource },
  { principalId, inputId, payload }: SubmitPromptInput,
): Omit<Command<'submit'>, 'kind' | 'requestDigest'> {
  const payloadDigest = digest.of(canonicalPayload(payload));
  return { admissionId: ids.next(), inputId, principalId, payload, payloadDigest, known: undefined };
}
