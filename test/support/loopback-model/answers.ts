/* Ready-made answers of the loopback model. Each is a function of the call, so that tests compose and add their own. */
import type { LoopbackCall } from './loopback-call.ts';
import type { Answer, ChatRequest } from './loopback-model.ts';

const defaultUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export interface AnswerOptions {
  /** Between two chunks. */
  readonly delayMs?: number;
  /** Null: none is sent. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly finishReason?: string;
  /** Thinking that comes before the text. */
  readonly reasoning?: string;
}

/** A text, streamed word by word. */
export function textAnswer(text: string, options: AnswerOptions = {}): Answer {
  return async (call) => {
    call.delta({ role: 'assistant', content: '' });
    for (const word of words(options.reasoning ?? '')) await piece(call, { reasoning_content: word }, options);
    for (const word of words(text)) await piece(call, { content: word }, options);
    finish(call, options.finishReason ?? 'stop', options);
  };
}

/** Thinking and nothing else. */
export function reasoningAnswer(reasoning: string, options: AnswerOptions = {}): Answer {
  return textAnswer('', { ...options, reasoning });
}

export interface LoopbackToolCall {
  readonly id: string;
  readonly name: string;
  /** The text of the arguments; an object is written as JSON. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/** Tool calls with their arguments in small pieces, after a text if there is one. */
export function toolCallAnswer(
  calls: readonly LoopbackToolCall[],
  options: AnswerOptions & { readonly text?: string } = {},
): Answer {
  return async (call) => {
    call.delta({ role: 'assistant', content: null });
    for (const word of words(options.reasoning ?? '')) await piece(call, { reasoning_content: word }, options);
    for (const word of words(options.text ?? '')) await piece(call, { content: word }, options);
    for (const [index, { id, name, arguments: given }] of calls.entries()) {
      const text = typeof given === 'string' ? given : JSON.stringify(given);
      await piece(call, { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }, options);
      for (const part of text.match(/[\s\S]{1,12}/g) ?? []) {
        await piece(call, { tool_calls: [{ index, function: { arguments: part } }] }, options);
      }
    }
    finish(call, options.finishReason ?? 'tool_calls', options);
  };
}

/** An HTTP error. A string is sent as plain text, everything else as JSON. */
export function errorAnswer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (call) => call.send(status, body, headers);
}

/** OpenAI's refusal of a request that is too long. */
export function contextLengthExceeded(limit: number): Answer {
  const message = `This model's maximum context length is ${String(limit)} tokens. However, your messages resulted in ${String(limit + 1000)} tokens. Please reduce the length of the messages.`;
  return errorAnswer(400, {
    error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
  });
}

/** Answers as a model whose window holds this many characters of JSON: what is longer is refused with 400. */
export function withinCharacters(limit: number, answer: Answer): Answer {
  return (call) =>
    JSON.stringify(call.request.body?.messages ?? []).length > limit
      ? contextLengthExceeded(Math.ceil(limit / 4))(call)
      : answer(call);
}

/** An error object inside a stream of 200, after some text. */
export function errorInStream(error: unknown, text = ''): Answer {
  return (call) => {
    if (text !== '') call.delta({ content: text });
    call.data(error);
    call.end();
  };
}

/** Some text, and then the connection breaks. */
export function cutAfter(text: string): Answer {
  return async (call) => {
    for (const word of words(text)) call.delta({ content: word });
    await call.sleep(20); // So that the text leaves before the break.
    call.cut();
  };
}

/** Some text, and then a clean end without a finish reason. */
export function endsWithoutFinish(text: string): Answer {
  return (call) => {
    for (const word of words(text)) call.delta({ content: word });
    call.end();
  };
}

/** Neither headers nor anything else, until the client goes. */
export const hangsBeforeHeaders: Answer = (call) => call.closed;

/** Headers and this text, and then silence. */
export function hangsAfter(text: string): Answer {
  return (call) => {
    call.begin();
    for (const word of words(text)) call.delta({ content: word });
    return call.closed;
  };
}

/** Headers and comments, and never a data frame; after `text`, if it is given. */
export function keepAlivesOnly(everyMs: number, text = ''): Answer {
  return async (call) => {
    call.begin();
    if (text !== '') call.delta({ content: text });
    while (!call.isClosed) {
      call.comment();
      await call.sleep(everyMs);
    }
  };
}

/** Bytes as they are given, with a pause between two of them; then a clean end. */
export function rawStream(pieces: readonly (string | Uint8Array)[], pauseMs = 0): Answer {
  return async (call) => {
    call.begin();
    for (const each of pieces) {
      call.raw(each);
      if (pauseMs > 0) await call.sleep(pauseMs);
    }
    call.end();
  };
}

/** Data frames as they are given, then the end mark. */
export function frames(values: readonly unknown[]): Answer {
  return (call) => {
    for (const value of values) call.data(value);
    call.done();
  };
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function makeGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Waits at the gate before it answers anything. */
export function parked(gate: Gate, answer: Answer): Answer {
  return async (call) => {
    await Promise.race([gate.opened, call.closed]);
    if (!call.isClosed) await answer(call);
  };
}

/** Whether a request asks for a summary: it brings no tools, and its system prompt says so. */
export function isSummaryRequest(request: ChatRequest | null): boolean {
  const system = request?.messages.find(({ role }) => role === 'system')?.content;
  return typeof system === 'string' && /summar/i.test(system) && (request?.tools ?? []).length === 0;
}

function words(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

async function piece(
  call: LoopbackCall,
  delta: Readonly<Record<string, unknown>>,
  options: AnswerOptions,
): Promise<void> {
  if (call.isClosed) return;
  if (options.delayMs !== undefined) await call.sleep(options.delayMs);
  call.delta(delta);
}

function finish(call: LoopbackCall, finishReason: string, options: AnswerOptions): void {
  call.delta({}, finishReason);
  const usage = options.usage === undefined ? defaultUsage : options.usage;
  if (usage !== null) call.usage(usage);
  call.done();
}
