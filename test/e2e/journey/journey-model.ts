import { isSummaryRequest, contextLengthExceeded, makeGate, textAnswer } from '../../support/loopback-model/answers.ts';
import type { Gate } from '../../support/loopback-model/answers.ts';
import { chatRequestFaults } from '../../support/loopback-model/assert-valid-chat-request.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import type { ChatRequest, RecordedRequest } from '../../support/loopback-model/loopback-model.ts';

export const summaryText = 'SUMMARY-OF-THE-EARLIER-CONVERSATION: the numbers were counted.';
/** The window of the journey's model, in characters of `JSON.stringify(messages)`. */
const maxCharacters = 50_000;

/**
 * The model of the journey: long answers to prompts that begin with `pressure`, short ones to all others, a refusal
 * of what is too long, and gates at which chosen requests wait until the test opens them.
 */
export class JourneyModel {
  readonly server: LoopbackModel;
  refusals = 0;
  /** How many more summary requests wait at the gate. */
  parkSummaries = 0;
  /** Requests whose last prompt is one of these wait at the gate, once each. */
  readonly parkPrompts = new Set<string>();
  readonly gate: Gate = makeGate();
  readonly #parkedResolvers: (() => void)[] = [];
  #parked = 0;
  pressureCharacters = 15_000;
  /** Fills the long answers in place of words; a backslash takes two characters in JSON and hardly any tokens. */
  filler: string | null = null;

  private constructor(server: LoopbackModel) {
    this.server = server;
    server.answerWith(async (call) => {
      const { body } = call.request;
      if (body === null) return call.send(400, { error: { message: 'no chat request' } });
      if (JSON.stringify(body.messages).length > maxCharacters) {
        this.refusals += 1;
        await contextLengthExceeded(12_500)(call);
        return;
      }
      const prompt = lastPrompt(body);
      const summary = isSummaryRequest(body);
      if (summary ? this.#takeSummaryPark() : this.parkPrompts.delete(prompt)) {
        this.#park();
        await Promise.race([this.gate.opened, call.closed]);
        if (call.isClosed) return;
      }
      const text = summary ? summaryText : answerTo(prompt, this.pressureCharacters, this.filler);
      await textAnswer(text)(call);
    });
  }

  static async start(): Promise<JourneyModel> {
    return new JourneyModel(await LoopbackModel.start());
  }

  /** Resolves when this many requests have reached the gate in all. */
  async parked(count = 1): Promise<void> {
    while (this.#parked < count) await new Promise<void>((resolve) => this.#parkedResolvers.push(resolve));
  }

  /** The requests of turns, oldest first, as the prompt that each was for. */
  get prompts(): readonly string[] {
    return this.turnRequests.map(({ body }) => (body === null ? '' : lastPrompt(body)));
  }

  get turnRequests(): readonly RecordedRequest[] {
    return this.server.requests.filter(({ body }) => !isSummaryRequest(body));
  }

  get summaryRequests(): readonly RecordedRequest[] {
    return this.server.requests.filter(({ body }) => isSummaryRequest(body));
  }

  /** The one request that was made for a prompt. */
  requestFor(prompt: string): ChatRequest {
    const found = this.server.chats.filter((body) => !isSummaryRequest(body) && lastPrompt(body) === prompt);
    if (found.length !== 1 || found[0] === undefined) {
      throw new Error(`${String(found.length)} requests were made for ${JSON.stringify(prompt)}`);
    }
    return found[0];
  }

  /** Every rule that any recorded request breaks. */
  get faults(): readonly string[] {
    return this.server.chats.flatMap((body) => chatRequestFaults(body.messages));
  }

  close(): Promise<void> {
    return this.server.close();
  }

  #takeSummaryPark(): boolean {
    if (this.parkSummaries === 0) return false;
    this.parkSummaries -= 1;
    return true;
  }

  #park(): void {
    this.#parked += 1;
    for (const resolve of this.#parkedResolvers.splice(0)) resolve();
  }
}

export function answerTo(prompt: string, pressureCharacters = 15_000, filler: string | null = null): string {
  const answer = `answer to ${prompt} `;
  if (!prompt.startsWith('pressure')) return answer.trim();
  return `${answer}${(filler ?? answer).repeat(pressureCharacters)}`.slice(0, pressureCharacters);
}

function lastPrompt(body: ChatRequest): string {
  const content = body.messages.findLast(({ role }) => role === 'user')?.content;
  return typeof content === 'string' ? (content.split(' |')[0] ?? '') : '';
}
