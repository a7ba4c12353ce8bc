/* P4, P10 and P13 on what the model servers are asked. */
import { activeMessages, isOwner, logOf, turnKey } from './books.ts';
import type { Books } from './books.ts';
import type { Exchange, SentMessage } from './rows.ts';
import { nameOf } from './admissions.ts';
import { expectedRequest } from './expected-request.ts';

export class RequestJudge {
  readonly #books: Books;
  readonly #summaryRequests = new Map<string, number>();
  /** Turn requests without an end, by process. */
  readonly #underWay = new Map<string, Set<number>>();

  constructor(books: Books) {
    this.#books = books;
  }

  /** The process hands a request over; from now on it may have been sent. */
  called(exchange: Exchange): void {
    judgeShape(this.#books, exchange);
    if (exchange.purpose === 'turn') this.#judgeTurn(exchange);
    else this.#judgeSummary(exchange);
  }

  ended(exchange: Exchange): void {
    const { end, purpose, said, number, process, sessionId } = exchange;
    const { summaries, reported } = this.#books;
    this.#underWay.get(process.name)?.delete(number);
    if (end?.kind !== 'finished') return;
    const isWhole = end.finishReason === 'stop' && end.toolCalls === 0;
    if (purpose === 'summary' && isWhole) summaries.add(said.join(''));
    if (purpose === 'turn' && sessionId !== null)
      reported.set(sessionId, Math.max(reported.get(sessionId) ?? 0, end.reportedTokens));
  }

  #judgeTurn(exchange: Exchange): void {
    const { verdict, store, turnRequests, turnModels, stops, limits } = this.#books;
    const { turn, sessionId, process } = exchange;
    if (turn === null || sessionId === null) {
      verdict.breach('P4', `request ${exchange.number} belongs to no turn that was started`);
      return;
    }
    const row = store.admissions(sessionId).get(turn.admissionId);
    const isDurable = row?.executionGeneration === turn.executionGeneration && row.boundary !== 'none';
    verdict.hold(isDurable, 'P4', () => `a request of ${nameOf(row)} was sent before its boundary was durable`);
    if (isOwner(this.#books, process)) {
      verdict.hold(row?.status === 'started', 'P4', () => `a request of ${nameOf(row)} was sent`);
      const stopped = stops.has(turnKey(sessionId, turn.executionGeneration));
      verdict.hold(!stopped, 'P5', () => `a request of ${nameOf(row)} was sent after its stop was acknowledged`);
      this.#judgeContent(exchange, sessionId, row?.promptMessageId ?? null);
    }
    const earlier = turnRequests.get(turn.admissionId) ?? [];
    turnRequests.set(turn.admissionId, [...earlier, exchange]);
    this.#judgeRepeat(earlier, exchange);
    const model = turnModels.get(turnKey(sessionId, turn.executionGeneration));
    verdict.hold(
      model === exchange.model,
      'update',
      () => `${nameOf(row)} asked ${exchange.model} instead of ${model}`,
    );
    verdict.hold(
      earlier.length < limits.maxSteps * (limits.maxAttempts + 1),
      'P13',
      () => `${nameOf(row)} sent ${earlier.length + 1} requests`,
    );
    const underWay = this.#underWay.get(process.name) ?? new Set();
    this.#underWay.set(process.name, underWay.add(exchange.number));
    verdict.hold(underWay.size <= limits.maxConcurrentTurns, 'P13', () => `${underWay.size} turn requests at once`);
  }

  /**
   * A turn asks again only after an answer that asks for tools, or when nothing of the failed try is stored: after an
   * overflow, an empty answer, a failure that passes. And never in another life.
   */
  #judgeRepeat(earlier: readonly Exchange[], exchange: Exchange): void {
    const { verdict } = this.#books;
    const last = earlier.at(-1);
    if (last === undefined) return;
    verdict.hold(
      last.turn?.executionGeneration === exchange.turn?.executionGeneration && last.process === exchange.process,
      'P4',
      () => `${exchange.turn?.admissionId} was sent again, in ${exchange.process.name} after ${last.process.name}`,
    );
    const { end } = last;
    const saidNothing = last.said.join('').trim() === '';
    const goesOn =
      end?.kind === 'finished'
        ? end.toolCalls > 0 || saidNothing
        : end?.reason === 'context_overflow' || end?.passes === true;
    const tries = earlier.length - earlier.findLastIndex(isStepDone);
    const { maxAttempts } = this.#books.limits;
    verdict.hold(tries <= maxAttempts + 1, 'P13', () => `${exchange.turn?.admissionId} tried a step ${tries} times`);
    verdict.hold(goesOn, 'P4', () => `${exchange.turn?.admissionId} was sent again after ${JSON.stringify(end)}`);
  }

  #judgeContent(exchange: Exchange, sessionId: string, promptMessageId: number | null): void {
    const { verdict, store } = this.#books;
    const tipId = store.session(sessionId)?.tipId ?? '';
    const active = activeMessages(store, tipId);
    const expected = expectedRequest(active);
    const sent =
      exchange.messages[0]?.role === 'user' && expected[0]?.role !== 'user'
        ? exchange.messages.slice(1)
        : exchange.messages;
    const same = sent.length === expected.length && sent.every((message, index) => matches(message, expected[index]));
    verdict.hold(
      same,
      'P10',
      () => `request ${exchange.number} is not its transcript: ${outline(sent)} for ${outline(expected)}`,
    );
    const unread = sent.slice(sent.findLastIndex(({ role }) => role === 'assistant') + 1);
    const newest = expected.slice(expected.length - unread.length);
    const isWhole = unread.every((message, index) => !isPlaceholder(message, newest[index] ?? message));
    verdict.hold(isWhole, 'P10', () => `request ${exchange.number} leaves out an output that the model has not seen`);
    const prompt = active.find(({ id }) => id === promptMessageId)?.text;
    const lastUser = exchange.messages.findLast(({ role }) => role === 'user');
    const isSteered = active.some(({ id, kind }) => kind === 'steer' && id > (promptMessageId ?? Infinity));
    verdict.hold(
      prompt === undefined || isSteered || lastUser?.text === prompt,
      'P10',
      () => `the newest user message of request ${exchange.number} is not its prompt`,
    );
    const isFirst = !active.some(
      (message) => message.admissionId === exchange.turn?.admissionId && message.role !== 'user',
    );
    verdict.hold(
      !isFirst || exchange.messages.at(-1)?.role === 'user',
      'P10',
      () => `the first request of a turn ends with a message of the ${exchange.messages.at(-1)?.role}`,
    );
  }

  #judgeSummary(exchange: Exchange): void {
    const { verdict, store, stops, summaryRequests } = this.#books;
    const { sessionId, process, number } = exchange;
    summaryRequests.set(sessionId ?? '', [...(summaryRequests.get(sessionId ?? '') ?? []), exchange]);
    verdict.hold(exchange.toolCount === 0, 'P10', () => `the summary request ${number} brings tools`);
    const isData = exchange.messages.length === 1 && exchange.messages[0]?.role === 'user';
    verdict.hold(isData, 'P10', () => `the summary request ${number} is a conversation`);
    if (sessionId === null || !isOwner(this.#books, process)) return;
    const open = store.session(sessionId)?.openCompression ?? null;
    const newest = logOf(this.#books, sessionId).findLast(({ type }) => type === 'compression.started');
    // A stop ends a compression by hand in the store before the process that summarises can know.
    const justStopped = newest?.trigger === 'manual' && !stops.has(turnKey(sessionId, newest.executionGeneration ?? 0));
    verdict.hold(
      open !== null || justStopped,
      'P9',
      () => `the summary request ${number} belongs to no compression that was started`,
    );
    const key = open?.compressionId ?? sessionId;
    const count = (this.#summaryRequests.get(key) ?? 0) + 1;
    this.#summaryRequests.set(key, count);
    // Three plans, two models, and a request that doesn't fit in three forms, each of which may fail once in passing.
    const most = 3 * 2 * 3 * 2;
    verdict.hold(count <= most, 'P13', () => `${count} summary requests in one compression`);
  }
}

function isStepDone({ end }: Exchange): boolean {
  return end?.kind === 'finished' && end.toolCalls > 0;
}

/** Every tool call has its result right behind it and every result its call; the user speaks first; nothing is empty. */
function judgeShape({ verdict }: Books, { messages, number, purpose }: Exchange): void {
  const fault = faultOf(messages, purpose === 'turn');
  verdict.hold(fault === null, 'P10', () => `request ${number} is invalid: ${fault} in ${outline(messages)}`);
}

function faultOf(messages: readonly SentMessage[], isConversation: boolean): string | null {
  if (messages[0]?.role !== 'user') return 'it does not begin with the user';
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.toolCallId ?? '')) return `the result of ${message.toolCallId} has no call`;
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    if (open.length > 0) return `the call ${open[0]} has no result`;
    open = (message.toolCalls ?? []).map(({ id }) => id);
    if (new Set(open).size !== open.length) return 'two calls have the same id';
    if (message.toolCalls?.some((call) => !isJsonObject(call.arguments)) === true) return 'arguments are no JSON';
    if (message.text.trim() === '' && open.length === 0) return `message ${index} is empty`;
    const next = messages[index + 1];
    const isPrompt = ({ role, text }: SentMessage): boolean => role === 'user' && !text.startsWith('<background>');
    const mergesPrompts = isPrompt(message) && next !== undefined && isPrompt(next);
    if (isConversation && mergesPrompts) return `two prompts follow each other at ${index}`;
  }
  return open.length > 0 ? `the call ${open[0]} has no result` : null;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function matches(sent: SentMessage, expected: SentMessage | undefined): boolean {
  if (expected === undefined || sent.role !== expected.role) return false;
  const isSummary = expected.role === 'user' && sent.text.startsWith('<background>');
  const isLostResult = expected.role === 'tool' && expected.text === '';
  const isFree = isLostResult || isPlaceholder(sent, expected);
  const sameText = isSummary ? sent.text.includes(expected.text) : isFree || sent.text === expected.text;
  const ids = (message: SentMessage): string => (message.toolCalls ?? []).map(({ id }) => id).join();
  return sameText && sent.toolCallId === expected.toolCallId && ids(sent) === ids(expected);
}

/** A long tool output may be sent as a line that says how long it is. */
function isPlaceholder(sent: SentMessage, { role, text }: SentMessage): boolean {
  return (
    role === 'tool' && text.length > 500 && sent.text.startsWith(`[An earlier output of ${text.length} characters `)
  );
}

function outline(messages: readonly SentMessage[]): string {
  const words = messages.map(({ role, text, toolCalls }) => {
    const calls = toolCalls === undefined || toolCalls.length === 0 ? '' : `+${toolCalls.length} calls`;
    return `${role}:${JSON.stringify(text.slice(0, 18))}${calls}`;
  });
  return `[${words.join(' ')}]`;
}
