import { describe, expect, it } from 'vitest';
import { makeDemoModel } from '../../../../src/adapters/outbound/model/demo-model.ts';
import { summaryPrompt } from '../../../../src/core/domain/compression/summary-request.ts';
import type { Message } from '../../../../src/core/domain/transcript/message.ts';
import { messageFrom, textDraft } from '../../../../src/core/domain/transcript/message.ts';
import type { ModelEvent, ModelRequest } from '../../../../src/core/ports/model-provider.ts';

const instantly = { sleep: async () => undefined };

function aRequest(text: string, overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    target: { provider: 'demo', model: 'demo', baseUrl: null },
    system: null,
    messages: [{ role: 'user', text, parts: null }],
    tools: [],
    maxOutputTokens: null,
    purpose: 'turn',
    ...overrides,
  };
}

async function ask(request: ModelRequest, signal = new AbortController().signal): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of makeDemoModel({ clock: instantly }).stream(request, signal)) events.push(event);
  return events;
}

async function answerTo(request: ModelRequest): Promise<string> {
  return (await ask(request)).flatMap((event) => (event.kind === 'text' ? [event.text] : [])).join('');
}

describe('the demo model', () => {
  it('gives the same answer to the same request, word by word, and ends it with its usage', async () => {
    const events = await ask(aRequest('Hello'));

    expect(events).toEqual(await ask(aRequest('Hello')));
    expect(events.length).toBeGreaterThan(10);
    expect(events.at(-1)).toMatchObject({ kind: 'finished', finishReason: 'stop', usage: { inputTokens: 6 } });
  });

  it('answers "long N" with N words', async () => {
    expect((await answerTo(aRequest('long 250'))).split(' ')).toHaveLength(250);
  });

  it('waits a second for each word of "slow N"', async () => {
    const waits: number[] = [];
    const model = makeDemoModel({ clock: { sleep: async (ms) => void waits.push(ms) } });
    const events = model.stream(aRequest('slow 3'), new AbortController().signal);
    for await (const event of events) expect(event).toBeDefined();

    expect(waits).toEqual([1000, 1000, 1000]);
  });

  it('lists the earlier requests for "recap"', async () => {
    const request = aRequest('recap', {
      messages: [
        { role: 'user', text: 'first', parts: null },
        { role: 'assistant', text: 'yes', parts: null, toolCalls: [] },
        { role: 'user', text: 'recap', parts: null },
      ],
    });

    expect(await answerTo(request)).toBe('I see these requests before this one:\n- first');
  });

  it('fails when it is asked to', async () => {
    expect((await ask(aRequest('fail'))).at(-1)).toMatchObject({ kind: 'failed', failure: { reason: 'unavailable' } });
  });

  it('stops soon when it is stopped', async () => {
    const stop = new AbortController();
    const events: ModelEvent[] = [];

    for await (const event of makeDemoModel({ clock: instantly }).stream(aRequest('long 1000'), stop.signal)) {
      events.push(event);
      if (events.length === 5) stop.abort();
    }

    expect(events).toHaveLength(6);
    expect(events.at(-1)).toMatchObject({ kind: 'failed', failure: { reason: 'aborted' } });
  });

  it('refuses what is over its window, as a real model does', async () => {
    expect(await ask(aRequest('x'.repeat(40_000)))).toEqual([
      expect.objectContaining({
        kind: 'failed',
        learnt: { contextTokens: 8192 },
        failure: expect.objectContaining({ reason: 'context_overflow' }) as unknown,
      }),
    ]);
  });
});

describe('its summary', () => {
  const message = (
    id: number,
    role: 'user' | 'assistant',
    text: string,
    kind: Message['kind'] = role === 'user' ? 'prompt' : 'answer',
  ): Message =>
    messageFrom(textDraft({ role, kind, text, tokens: 10, admissionId: null }), id, '2030-01-01T00:00:00.000Z');

  async function summaryOf(middle: readonly Message[]): Promise<string> {
    const { system, user } = summaryPrompt({
      middle,
      form: 'whole',
      maxTokens: 10_000,
      maxWords: 500,
      focus: null,
      mask: (text) => text,
    });
    return answerTo(aRequest(user, { system, purpose: 'summary' }));
  }

  it('lists the requests of the transcript and no answers', async () => {
    const summary = await summaryOf([
      message(1, 'user', 'Find the leak'),
      message(2, 'assistant', 'Where?'),
      message(3, 'user', 'In the cellar'),
    ]);

    expect(summary).toContain('- Find the leak\n- In the cellar\n');
    expect(summary).not.toContain('Where?');
  });

  it('takes over what an earlier summary lists', async () => {
    const earlier = await summaryOf([message(1, 'user', 'Find the leak')]);

    const summary = await summaryOf([message(2, 'user', earlier, 'summary'), message(3, 'user', 'Mend it')]);

    expect(summary).toContain('- Find the leak\n- Mend it\n');
  });

  it('stays short, however long the transcript is', async () => {
    const middle = Array.from({ length: 200 }, (_, index) =>
      message(index, 'user', `request ${String(index)} ${'x'.repeat(500)}`),
    );

    expect((await summaryOf(middle)).length).toBeLessThan(1500);
  });
});
