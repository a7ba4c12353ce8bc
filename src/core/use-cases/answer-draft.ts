import type { MessageDraft } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';

/** What a step has brought, to its end or as far as it came. */
export type Said = Pick<MessageDraft, 'text' | 'parts' | 'toolCalls' | 'usage' | 'finishReason'>;

/** What a model has said as a message to be stored. */
export async function answerDraft(
  tokens: TokenCounter,
  said: Said,
  { admissionId, target }: { readonly admissionId: string; readonly target: ModelTarget },
): Promise<MessageDraft> {
  const calls = said.toolCalls.map((call) => `${call.name}${call.arguments}`);
  const counts = await tokens.count([said.text, ...calls, ...handedBackTexts(said)]);
  const { provider, model, baseUrl } = target;
  return {
    ...said,
    answeredBy: { provider, model, baseUrl },
    role: 'assistant',
    kind: 'answer',
    toolCallId: null,
    tokens: counts.reduce((sum, count) => sum + count, messageOverheadTokens),
    partial: false,
    admissionId,
  };
}

/** Reasoning costs tokens where it goes out again, which is with the calls that it led to. */
function handedBackTexts({ parts, toolCalls }: Pick<MessageDraft, 'parts' | 'toolCalls'>): readonly string[] {
  if (toolCalls.length === 0) return [];
  return (parts ?? []).flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
}
