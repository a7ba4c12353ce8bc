import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedModel } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';

/** A window of 1,000 tokens of which 100 are kept for the answer: compression is due from 800 on. */
export const smallWindow = { contextTokens: 1000, outputTokens: 100 };

/** Text of about so many tokens, as the tests' counter counts them. */
export function textOf(tokens: number, word: string): string {
  return `${word} `.repeat(tokens).slice(0, tokens * 4);
}

/** Answers turns with 100 tokens each and every summary request as it is told. */
export function aModel(
  summary: (request: ModelRequest) => Script = () => textAnswer('SUMMARY OF BEFORE'),
): ScriptedModel {
  return new ScriptedModel((request) =>
    request.purpose === 'summary' ? summary(request) : textAnswer(textOf(100, 'answer')),
  );
}

/**
 * A gateway with a session that is under pressure: three turns of about 210 tokens are done, and the next prompt of a
 * hundred or more makes its compression due.
 */
export async function underPressure(
  options: MemoryGatewayOptions = {},
): Promise<{ gateway: MemoryGateway; sessionId: string }> {
  const gateway = await MemoryGateway.started({ model: aModel(), window: smallWindow, ...options });
  const sessionId = await gateway.create();
  for (const inputId of ['first', 'second', 'third']) {
    await gateway.turn(sessionId, inputId, textOf(100, inputId));
  }
  return { gateway, sessionId };
}
