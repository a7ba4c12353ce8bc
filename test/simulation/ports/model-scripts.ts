import type { ToolCall } from '../../../src/core/domain/transcript/message.ts';
import type { Usage } from '../../../src/core/domain/model/usage.ts';
import type { FailureKind } from '../../../src/core/domain/model/failure.ts';
import type { FinishReason, ModelRequest } from '../../../src/core/ports/model-provider.ts';
import { toolName } from './tool-server.ts';
import type { Decisions } from '../world/decisions.ts';

/** What a model server does with one request, step by step. */
export type ModelStep =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly call: ToolCall }
  | { readonly kind: 'finish'; readonly finishReason: FinishReason; readonly usage: Usage | null }
  | {
      readonly kind: 'fail';
      readonly reason: FailureKind;
      /** Whether the adapter takes it for something that passes, and how long it should be waited for. */
      readonly passes?: boolean;
      readonly retryAfterMs?: number;
      /** What the server says of its window. */
      readonly windowTokens?: number;
    }
  /** Says nothing more until the adapter gives up. */
  | { readonly kind: 'hang' }
  /** The adapter itself breaks, or ends without a result. */
  | { readonly kind: 'throw' }
  | { readonly kind: 'vanish' };

/** Each session has two models: its own one, and a smaller one. */
export function isSmall(model: string): boolean {
  return model.endsWith(smallSuffix);
}

export const smallSuffix = '/small';

/** How a server is, and what it did last. */
export interface ServerTraits {
  /** The tokens that the server really takes, whatever the catalogue says. */
  readonly windowTokens: number;
  /** The window of the smaller models, as a part of that. */
  readonly smallShare: number;
  /** Whether it says how large its window is. */
  readonly statesWindow: boolean;
  /** Whether it gives every answer's calls the same ids again, as some local servers do. */
  readonly repeatsCallIds: boolean;
  /** The last fault: an outage lasts for more than one request. */
  lastFault: number;
}

/** Decides what becomes of a request. The calmest of all is a short answer. */
export function scriptFor(
  request: Pick<ModelRequest, 'purpose' | 'messages' | 'target'>,
  number: number,
  server: ServerTraits,
  decisions: Decisions,
): readonly ModelStep[] {
  const tokens = tokensOf(request.messages);
  const windowTokens = Math.floor(server.windowTokens * (isSmall(request.target.model) ? server.smallShare : 1));
  const overflow = decisions.fault('overflow', 2) === 1 || tokens > windowTokens;
  const stated = server.statesWindow && tokens > windowTokens ? { windowTokens } : {};
  const tooLong: ModelStep = { kind: 'fail', reason: 'context_overflow', ...stated };
  if (request.purpose === 'summary') return summaryScript(number, overflow ? tooLong : null, decisions);
  const tools = decisions.fault('tools', toolScripts.length);
  const again = decisions.fault('again', 2) === 1;
  const bad = decisions.fault('model', modelFaults.length) || (again ? server.lastFault : 0);
  server.lastFault = bad;
  const length = decisions.fault('long', answerLengths.length);
  const reported = decisions.fault('usage', reports.length);
  if (overflow) return [tooLong];
  const usage = reports[reported]?.(tokens) ?? null;
  if (tools > 0) return toolScripts[tools]?.(server.repeatsCallIds ? 'call' : `call-${number}`, usage) ?? [];
  const text = answerText(number, answerLengths[length] ?? 0);
  return modelFaults[bad]?.(text, usage) ?? [];
}

/** Characters beyond the short answer. */
const answerLengths: readonly number[] = [0, 200, 600, 1500];

/** What the server says that a request cost. */
const reports: readonly ((tokens: number) => Usage | null)[] = [
  () => null,
  (tokens) => ({ inputTokens: tokens, outputTokens: 20, totalTokens: tokens + 20 }),
  (tokens) => ({ inputTokens: 2 * tokens + 100, outputTokens: 20, totalTokens: null }),
  () => ({ inputTokens: 0, outputTokens: 0, totalTokens: 0 }),
];

type Answer = (text: string, usage: Usage | null) => readonly ModelStep[];

const answers: Answer = (text, usage) => [
  ...chunks(text).map((chunk): ModelStep => ({ kind: 'text', text: chunk })),
  { kind: 'finish', finishReason: 'stop', usage },
];

const failsAs =
  (reason: FailureKind, more: { readonly passes?: boolean; readonly retryAfterMs?: number } = {}): Answer =>
  () => [{ kind: 'fail', reason, ...more }];

/** The first is no fault. */
const modelFaults: readonly Answer[] = [
  answers,
  (text) => [{ kind: 'text', text }, { kind: 'hang' }],
  () => [{ kind: 'hang' }],
  (text) => [
    { kind: 'text', text },
    { kind: 'fail', reason: 'cut_off', passes: true },
  ],
  (text) => [
    { kind: 'text', text },
    { kind: 'fail', reason: 'cut_off' },
  ],
  (text) => [{ kind: 'text', text: text.slice(0, 5) }, { kind: 'vanish' }],
  failsAs('rate_limited', { passes: true, retryAfterMs: 1500 }),
  failsAs('rate_limited', { passes: true, retryAfterMs: 90_000 }),
  failsAs('unavailable', { passes: true }),
  failsAs('unavailable'),
  failsAs('auth'),
  failsAs('bad_request'),
  () => [{ kind: 'throw' }],
  (_text, usage) => [{ kind: 'finish', finishReason: 'stop', usage }],
  (_text, usage) => [
    { kind: 'reasoning', text: 'thinking' },
    { kind: 'text', text: '  ' },
    { kind: 'finish', finishReason: 'length', usage },
  ],
  (text, usage) => [
    { kind: 'text', text },
    { kind: 'finish', finishReason: 'length', usage },
  ],
];

/** Answers that ask for tools; the first stands for none. */
const toolScripts: readonly ((ids: string, usage: Usage | null) => readonly ModelStep[])[] = [
  () => [],
  (ids, usage) => [toolCall(`${ids}.0`), { kind: 'finish', finishReason: 'tool_calls', usage }],
  (ids, usage) => [
    { kind: 'text', text: `I look at ${ids}` },
    toolCall(`${ids}.0`),
    toolCall(`${ids}.1`, '{"path":"b.txt"}'),
    toolCall(`${ids}.2`, '{}', 'no_such_tool'),
    { kind: 'finish', finishReason: 'tool_calls', usage },
  ],
  (ids, usage) => [
    toolCall(`${ids}.0`, 'no json'),
    toolCall(`${ids}.0`),
    { kind: 'finish', finishReason: 'stop', usage },
  ],
  (ids) => [toolCall(`${ids}.0`), { kind: 'fail', reason: 'unavailable' }],
  (ids) => [toolCall(`${ids}.0`), { kind: 'hang' }],
  (ids, usage) => [
    toolCall(`${ids}.1`, '{"path":"b.txt"}'),
    toolCall(`${ids}.2`, '{"path":"b.txt"}'),
    { kind: 'finish', finishReason: 'tool_calls', usage },
  ],
];

function summaryScript(number: number, tooLong: ModelStep | null, decisions: Decisions): readonly ModelStep[] {
  const bad = decisions.fault('summary', summaryFaults.length);
  if (tooLong !== null) return [tooLong];
  return summaryFaults[bad]?.(`Summary ${number}: what was said before.`, null) ?? [];
}

/** The first is no fault. */
const summaryFaults: readonly Answer[] = [
  answers,
  (text, usage) => answers(`${text} ${'and more '.repeat(400)}`, usage),
  (_text, usage) => answers('', usage),
  (text, usage) => [
    { kind: 'text', text },
    { kind: 'finish', finishReason: 'length', usage },
  ],
  () => [toolCall('summary-call'), { kind: 'finish', finishReason: 'tool_calls', usage: null }],
  (_text, usage) => answers('Error: no summary today', usage),
  failsAs('unavailable'),
  failsAs('rate_limited'),
  (text) => [{ kind: 'text', text }, { kind: 'hang' }],
  (text) => [{ kind: 'text', text }, { kind: 'vanish' }],
  () => [{ kind: 'throw' }],
  failsAs('unavailable', { passes: true }),
  failsAs('rate_limited', { passes: true, retryAfterMs: 90_000 }),
  failsAs('auth'),
];

function toolCall(id: string, args = '{"path":"a.txt"}', name = toolName): ModelStep {
  return { kind: 'tool_call', call: { id, name, arguments: args } };
}

function answerText(number: number, more: number): string {
  return `Answer ${number}.${' word'.repeat(more / 5)}`;
}

function chunks(text: string): readonly string[] {
  if (text.length < 12) return text === '' ? [] : [text];
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The server's own way of counting: it need not agree with the gateway's. */
function tokensOf(messages: ModelRequest['messages']): number {
  return messages.reduce((sum, message) => sum + Math.ceil(message.text.length / 4) + 4, 0);
}
