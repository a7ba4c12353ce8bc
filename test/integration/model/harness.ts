import { onTestFinished } from 'vitest';
import { makeProvider } from '../../../src/adapters/outbound/model/make-provider.ts';
import type { WireName } from '../../../src/adapters/outbound/model/make-provider.ts';
import type { WireProviderOptions } from '../../../src/adapters/outbound/model/wire-provider.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from '../../../src/core/ports/model-provider.ts';
import type { Answer } from '../../support/loopback-model/loopback-model.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';

export const aKey = 'sk-test-0123456789abcdef';

export interface Rig {
  readonly model: LoopbackModel;
  readonly provider: ModelProvider;
  /** Sends one request and gives all its events. */
  readonly ask: (request?: Partial<ModelRequest>, signal?: AbortSignal) => Promise<readonly ModelEvent[]>;
}

/** A provider against a loopback model that answers with `answer`; both are closed when the test ends. */
export async function aRig(
  answer?: Answer,
  options: Partial<WireProviderOptions> = {},
  wire: WireName = 'openai-compatible',
): Promise<Rig> {
  const model = await LoopbackModel.start(answer === undefined ? {} : { answer });
  const provider = makeProvider(wire, {
    baseUrl: model.url,
    apiKey: aKey,
    newCallId: countingIds(),
    ...options,
  });
  onTestFinished(async () => {
    provider.close();
    await model.close();
  });
  return {
    model,
    provider,
    ask: (request = {}, signal = new AbortController().signal) => eventsOf(provider.stream(aRequest(request), signal)),
  };
}

export function aRequest(overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    target: { provider: 'custom', model: 'test-model', baseUrl: null },
    system: null,
    messages: [{ role: 'user', text: 'Hello', parts: null }],
    tools: [],
    maxOutputTokens: null,
    purpose: 'turn',
    ...overrides,
  };
}

export async function eventsOf(stream: AsyncIterable<ModelEvent>): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The text that an answer streamed. */
export function textOf(events: readonly ModelEvent[]): string {
  return events.flatMap((event) => (event.kind === 'text' ? [event.text] : [])).join('');
}

export function reasoningOf(events: readonly ModelEvent[]): string {
  return events.flatMap((event) => (event.kind === 'reasoning' ? [event.text] : [])).join('');
}

/** The last event, after checking that it is the only one of its sort. */
export function endOf(events: readonly ModelEvent[]): Extract<ModelEvent, { kind: 'finished' | 'failed' }> {
  const ends = events.filter((event) => event.kind === 'finished' || event.kind === 'failed');
  const [end] = ends;
  if (end === undefined || ends.length > 1 || events.at(-1) !== end) {
    throw new Error(`not exactly one end, last: ${events.map(({ kind }) => kind).join(', ')}`);
  }
  return end;
}

/** How a request failed; throws when it didn't. */
export function failureOf(events: readonly ModelEvent[]): Extract<ModelEvent, { kind: 'failed' }>['failure'] {
  const end = endOf(events);
  if (end.kind !== 'failed') throw new Error('the request did not fail');
  return end.failure;
}

export function callsOf(events: readonly ModelEvent[]): readonly (readonly [id: string, name: string, args: string])[] {
  return events.flatMap((event) =>
    event.kind === 'tool_call' ? [[event.call.id, event.call.name, event.call.arguments] as const] : [],
  );
}

function countingIds(): () => string {
  let count = 0;
  return () => `made-${String((count += 1))}`;
}
