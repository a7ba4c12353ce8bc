import type { SteerTarget } from '../domain/admission/admission.ts';
import { canonicalPayload } from '../domain/admission/payload.ts';
import type { Receipt } from '../domain/admission/receipt.ts';
import type { Digest } from '../ports/digest.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Sent, Sessions } from './sessions.ts';
import { newPrompt } from './submit-prompt.ts';
import type { SubmitPromptInput } from './submit-prompt.ts';

interface SteerPromptInput extends SubmitPromptInput {
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
  return (input) => {
    const { executionGeneration, ifOver } = input;
    const identity = JSON.stringify(['steer', executionGeneration, ifOver, canonicalPayload(input.payload)]);
    const requestDigest = deps.digest.of(identity);
    const prompt = newPrompt(deps, input);
    return deps.sessions.send(input.sessionId, {
      kind: 'steer',
      ...prompt,
      requestDigest,
      executionGeneration,
      ifOver,
    });
  };
}
