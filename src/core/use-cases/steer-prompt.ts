import type { PromptPayload, SteerTarget } from '../domain/admission/admission.ts';
import { canonicalPayload } from '../domain/admission/payload.ts';
import type { Receipt } from '../domain/admission/receipt.ts';
import type { Digest } from '../ports/digest.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Sent, Sessions } from './sessions.ts';

export interface SteerPromptInput {
  readonly sessionId: string;
  readonly principalId: string;
  /** The client's id for this prompt; it must not contain `~`. */
  readonly inputId: string;
  readonly payload: PromptPayload;
  /** The generation of the turn that it is meant for. */
  readonly executionGeneration: number;
  readonly ifOver: SteerTarget['ifOver'];
}

/**
 * Takes a prompt for the running turn. The receipt comes after the commit (P1) and is the same for ever (P2): the turn
 * that it is meant for, and what becomes of it when that is over, are part of what the id stands for.
 */
export type SteerPrompt = (input: SteerPromptInput) => Promise<Sent<Receipt>>;

export function makeSteerPrompt(deps: {
  readonly sessions: Sessions;
  readonly digest: Digest;
  readonly ids: IdSource;
}): SteerPrompt {
  const { sessions, digest, ids } = deps;
  return ({ sessionId, principalId, inputId, payload, executionGeneration, ifOver }) => {
    const content = canonicalPayload(payload);
    return sessions.send(sessionId, {
      kind: 'steer',
      admissionId: ids.next(),
      inputId,
      principalId,
      requestDigest: digest.of(JSON.stringify(['steer', executionGeneration, ifOver, content])),
      payload,
      payloadDigest: digest.of(content),
      executionGeneration,
      ifOver,
      known: undefined,
    });
  };
}
