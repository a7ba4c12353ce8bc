import type { PromptPayload } from '../domain/admission/admission.ts';
import { canonicalPayload } from '../domain/admission/payload.ts';
import type { Receipt } from '../domain/admission/receipt.ts';
import type { AdmissionKey } from '../domain/session/commands.ts';
import type { Digest } from '../ports/digest.ts';
import type { Sent, Sessions } from './sessions.ts';

/** Gives a prompt that waits other content. */
export type EditPrompt = (input: {
  readonly sessionId: string;
  readonly key: AdmissionKey;
  /** With a revision only if the prompt hasn't changed since. */
  readonly revision: number | null;
  readonly payload: PromptPayload;
}) => Promise<Sent<Receipt>>;

export function makeEditPrompt(deps: { readonly sessions: Sessions; readonly digest: Digest }): EditPrompt {
  return ({ sessionId, key, revision, payload }) => {
    const payloadDigest = deps.digest.of(canonicalPayload(payload));
    return deps.sessions.send(sessionId, { kind: 'edit', key, revision, payload, payloadDigest, known: undefined });
  };
}
