import {
  contextLengthExceeded,
  errorAnswer,
  isSummaryRequest,
  makeGate,
  textAnswer,
  toolCallAnswer,
} from '../../support/loopback-model/answers.ts';
import type { Gate } from '../../support/loopback-model/answers.ts';
import { chatRequestFaults } from '../../support/loopback-model/assert-valid-chat-request.ts';
import type { LoopbackCall } from '../../support/loopback-model/loopback-call.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import type { ChatRequest } from '../../support/loopback-model/loopback-model.ts';
import { asksForTool, expectedAnswer, readPromptText, steerMark, summaryText } from './prompt-text.ts';
import type { PromptText } from './prompt-text.ts';

/** A request of a turn, as the model server saw it. */
export interface SeenRequest {
  readonly tag: string;
  /** 1 for the first request of a turn; it grows with the tool results after the prompt. */
  readonly step: number;
  /** It was answered with "too long". */
  readonly refused: boolean;
}

/** One model server for many gateways. Each has its own API key, and its own witness. */
export class WitnessServer {
  readonly #server: LoopbackModel;
  readonly #witnesses = new Map<string, Witness>();

  private constructor(server: LoopbackModel) {
    this.#server = server;
    server.answerWith(async (call) => {
      const key = (call.request.headers.authorization ?? '').replace('Bearer ', '');
      const witness = this.#witnesses.get(key);
      await (witness === undefined ? call.send(401, { error: { message: 'no such key' } }) : witness.answer(call));
    });
  }

  static async start(): Promise<WitnessServer> {
    return new WitnessServer(await LoopbackModel.start());
  }

  get url(): string {
    return this.#server.url;
  }

  /** The witness of a gateway; `before` is what another one saw of the same history. */
  witness(key: string, before: Witness | null = null): Witness {
    const witness = new Witness(key, before);
    this.#witnesses.set(key, witness);
    return witness;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** What a model server saw of one gateway: the only one who can say whether something was sent, and how often. */
export class Witness {
  readonly key: string;
  readonly requests: SeenRequest[];
  /** Everything about the requests that a model server would object to, and every overlap of two turns of a session. */
  readonly faults: string[];
  summaries: 'answer' | 'fail' | 'park' = 'answer';
  summaryCount = 0;
  readonly #gate: Gate = makeGate();
  #gateOpen = false;
  readonly #open = new Map<string, number>();
  readonly #arrivals = new Map<string, () => void>();

  constructor(key: string, before: Witness | null) {
    this.key = key;
    this.requests = [...(before?.requests ?? [])];
    this.faults = [...(before?.faults ?? [])];
  }

  /** Lets everything that is parked be answered, now and later. */
  openGate(): void {
    this.#gateOpen = true;
    this.#gate.open();
  }

  /** Resolves when a request for the prompt, or `summary` for a summary, has come. */
  async arrived(tag: string): Promise<void> {
    while (!this.#has(tag)) await new Promise<void>((resolve) => this.#arrivals.set(tag, resolve));
  }

  async answer(call: LoopbackCall): Promise<void> {
    const { body } = call.request;
    if (body === null) {
      call.send(400, { error: { message: 'no chat request' } });
      return;
    }
    this.faults.push(...chatRequestFaults(body.messages));
    if (isSummaryRequest(body)) await this.#answerSummary(call);
    else await this.#answerTurn(call, body);
  }

  async #answerSummary(call: LoopbackCall): Promise<void> {
    this.summaryCount += 1;
    this.#arrivals.get('summary')?.();
    if (this.summaries === 'park') await this.#park(call);
    if (call.isClosed) return;
    if (this.summaries === 'fail') await errorAnswer(400, { error: { message: 'the summary is refused' } })(call);
    else await textAnswer(summaryText)(call);
  }

  async #answerTurn(call: LoopbackCall, body: ChatRequest): Promise<void> {
    const prompt = promptOf(body);
    if (prompt === null) {
      this.faults.push(`a request whose last prompt is none: ${JSON.stringify(body.messages.at(-1)).slice(0, 200)}`);
      call.send(400, { error: { message: 'no such prompt' } });
      return;
    }
    const { tag, wish } = prompt;
    const step = 1 + stepsSincePrompt(body);
    const refused = wish === 'overflow' && !JSON.stringify(body.messages).includes(summaryText);
    this.requests.push({ tag, step, refused });
    this.#arrivals.get(tag)?.();
    const session = sessionOfTag(tag);
    const overlapping = this.#open.get(session) ?? 0;
    if (overlapping > 0) this.faults.push(`two requests of ${session} at once, one of them for ${tag}`);
    this.#open.set(session, overlapping + 1);
    void call.closed.then(() => this.#open.set(session, (this.#open.get(session) ?? 1) - 1));
    await this.#answerPrompt(call, prompt, { step, refused });
  }

  async #answerPrompt(
    call: LoopbackCall,
    prompt: PromptText,
    { step, refused }: { readonly step: number; readonly refused: boolean },
  ): Promise<void> {
    if (refused) {
      await contextLengthExceeded(1000)(call);
      return;
    }
    if (prompt.wish === 'park' || (prompt.wish === 'parktool' && step === 1)) await this.#park(call);
    if (call.isClosed) return;
    if (asksForTool(prompt.wish) && step === 1) {
      await toolCallAnswer([{ id: `call-${prompt.tag}`, ...toolOf(prompt) }])(call);
    } else {
      await textAnswer(expectedAnswer(prompt), prompt.wish === 'slow' ? { delayMs: prompt.amount } : {})(call);
    }
  }

  async #park(call: LoopbackCall): Promise<void> {
    if (!this.#gateOpen) await Promise.race([this.#gate.opened, call.closed]);
  }

  #has(tag: string): boolean {
    return tag === 'summary' ? this.summaryCount > 0 : this.requests.some((request) => request.tag === tag);
  }
}

/** Nobody offers `look_up`. */
function toolOf({ tag, wish }: PromptText): {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
} {
  if (wish === 'append') return { name: 'journal__append', arguments: { line: tag } };
  return { name: 'look_up', arguments: { tag } };
}

export function sessionOfTag(tag: string): string {
  return tag.slice(0, tag.lastIndexOf('.'));
}

function promptOf({ messages }: ChatRequest): PromptText | null {
  const content = messages[promptIndex(messages)]?.content;
  return typeof content === 'string' ? readPromptText(content) : null;
}

/** What a user said last, beside what was added to the running turn: only prompts have a tag. */
function promptIndex(messages: ChatRequest['messages']): number {
  const isSteer = (content: unknown): boolean => typeof content === 'string' && content.startsWith(steerMark);
  return messages.findLastIndex(({ role, content }) => role === 'user' && !isSteer(content));
}

function stepsSincePrompt(body: ChatRequest): number {
  const prompt = promptIndex(body.messages);
  return body.messages.slice(prompt).filter(({ role }) => role === 'assistant').length;
}
