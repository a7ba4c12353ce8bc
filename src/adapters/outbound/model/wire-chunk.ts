/*
 * One chunk of an OpenAI-compatible stream, made harmless. Servers send empty, null or missing `choices`, `error: null`,
 * `finish_reason: ""`, roles and usage fields of odd types; strict schemas take each of them for a broken stream.
 */
import { isRecord } from './error-facts.ts';

export interface WireChunk {
  /** An error object that the chunk carries; undefined when there is none. */
  readonly error: unknown;
  readonly content: string | readonly unknown[] | null;
  /** Reasoning, and whether it came under the name under which it is handed back. */
  readonly reasoning: { readonly text: string; readonly isHandedBack: boolean } | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly unknown[];
  /** A call in the form that came before `tool_calls`. Nobody asks for it, and nobody reads more of it than that it began. */
  readonly hasFunctionCall: boolean;
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
  readonly usage: WireUsage | null;
}

export interface WireUsage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
}

const nothing: WireChunk = {
  error: undefined,
  content: null,
  reasoning: null,
  refusal: null,
  toolCalls: [],
  hasFunctionCall: false,
  finishReason: null,
  nativeFinishReason: null,
  usage: null,
};

/** Reads a parsed frame. `eventName` is the frame's own `event:` line, if it has one. */
export function readChunk(value: unknown, eventName: string | null): WireChunk {
  if (!isRecord(value)) return { ...nothing, error: value };
  const choice = firstChoice(value['choices']);
  const error = errorOf(value, choice, eventName);
  if (error !== undefined) return { ...nothing, error, usage: usageOf(value['usage']) };
  const delta = isRecord(choice?.['delta']) ? choice['delta'] : isRecord(choice?.['message']) ? choice['message'] : {};
  return {
    error: undefined,
    content: contentOf(delta['content']),
    reasoning: reasoningOf(delta),
    refusal: textOrNull(delta['refusal']),
    toolCalls: Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [],
    hasFunctionCall: isRecord(delta['function_call']),
    finishReason: textOrNull(choice?.['finish_reason']),
    nativeFinishReason: textOrNull(choice?.['native_finish_reason']),
    usage: usageOf(value['usage']),
  };
}

/** The chunk in the one form that the SDK's schema takes, without the tool calls, which we put together ourselves. */
export function sdkChunk(chunk: WireChunk): Readonly<Record<string, unknown>> | null {
  const { content, reasoning, refusal, finishReason, usage } = chunk;
  if (content === null && reasoning === null && refusal === null && finishReason === null && usage === null)
    return null;
  const delta = { content, reasoning_content: reasoning?.text ?? null, refusal };
  return {
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    usage: usage === null ? null : sdkUsage(usage),
  };
}

function sdkUsage(usage: WireUsage): Readonly<Record<string, unknown>> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
  };
}

/** We ask for one answer; what a server sends of a second one is left out. */
function firstChoice(choices: unknown): Readonly<Record<string, unknown>> | null {
  if (!Array.isArray(choices)) return null;
  const choice: unknown = choices.find(
    (each) => isRecord(each) && (each['index'] === 0 || typeof each['index'] !== 'number'),
  );
  return isRecord(choice) ? choice : null;
}

/**
 * A top-level `error` in any chunk is an error, so is a choice's own, an `event: error` frame, and an object without
 * choices that looks like an error. `error: null` is none. An answer's text is never looked at.
 */
function errorOf(
  value: Readonly<Record<string, unknown>>,
  choice: Readonly<Record<string, unknown>> | null,
  eventName: string | null,
): unknown {
  if (isPresent(value['error'])) return value;
  if (choice !== null && isPresent(choice['error'])) return { error: choice['error'] };
  if (eventName === 'error' || value['type'] === 'error' || value['object'] === 'error') return value;
  if (Array.isArray(value['choices']) || value['usage'] !== undefined) return undefined;
  const hasCode = ['code', 'type', 'status'].some((field) => isPresent(value[field]));
  const looksLikeError =
    isPresent(value['errors']) || isPresent(value['detail']) || (typeof value['message'] === 'string' && hasCode);
  return looksLikeError ? value : undefined;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function contentOf(content: unknown): string | readonly unknown[] | null {
  if (typeof content === 'string') return content === '' ? null : content;
  const parts = Array.isArray(content)
    ? content.filter((part) => isRecord(part) && typeof part['type'] === 'string')
    : [];
  return parts.length === 0 ? null : parts;
}

function reasoningOf(delta: Readonly<Record<string, unknown>>): WireChunk['reasoning'] {
  const handedBack = textOrNull(delta['reasoning_content']);
  if (handedBack !== null) return { text: handedBack, isHandedBack: true };
  const other = textOrNull(delta['reasoning']);
  return other === null ? null : { text: other, isHandedBack: false };
}

function usageOf(usage: unknown): WireUsage | null {
  if (!isRecord(usage)) return null;
  return {
    promptTokens: countOrNull(usage['prompt_tokens']),
    completionTokens: countOrNull(usage['completion_tokens']),
    totalTokens: countOrNull(usage['total_tokens']),
  };
}

function countOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
