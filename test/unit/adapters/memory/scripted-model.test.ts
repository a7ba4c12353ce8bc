import { describe, expect, test } from 'vitest';
import {
  failedWith,
  ScriptedModel,
  textAnswer,
  toolAnswer,
} from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { ModelEvent, ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { aToolCall } from '../../../support/builders.ts';

function aRequest(system: string | null = null): ModelRequest {
  const target = { provider: 'custom', model: 'test-model', baseUrl: null };
  return { target, system, messages: [], tools: [], maxOutputTokens: null, purpose: 'turn' };
}

const never = new AbortController().signal;

async function read(stream: AsyncIterable<ModelEvent>): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const aborted = failedWith('aborted', 'The request was aborted');

describe('the scripted model', () => {
  test('answers requests with its scripts in order, and keeps the requests', async () => {
    const model = new ScriptedModel().enqueue(textAnswer('one'), toolAnswer([aToolCall()]));

    const first = await read(model.stream(aRequest('first'), never));
    const second = await read(model.stream(aRequest('second'), never));

    expect(first).toEqual(textAnswer('one'));
    expect(second).toEqual(toolAnswer([aToolCall()]));
    expect(model.requests).toEqual([aRequest('first'), aRequest('second')]);
  });

  test('deals its scripts out when it is asked, not when it is read', async () => {
    const model = new ScriptedModel().enqueue(textAnswer('one'), textAnswer('two'));

    const [first, second] = [model.stream(aRequest(), never), model.stream(aRequest(), never)];

    expect(await read(second)).toEqual(textAnswer('two'));
    expect(await read(first)).toEqual(textAnswer('one'));
  });

  test('fails a request for which there is no script, or answers it as it was told', async () => {
    const helpless = new ScriptedModel();
    const talkative = new ScriptedModel((request) => textAnswer(`echo ${request.system}`));

    expect(await read(helpless.stream(aRequest(), never))).toEqual([failedWith('internal', 'No script is left')]);
    expect(await read(talkative.stream(aRequest('hello'), never))).toEqual(textAnswer('echo hello'));
  });

  test('says nothing after a last event, and always says one', async () => {
    const model = new ScriptedModel().enqueue(
      [...textAnswer('one'), { kind: 'text', text: 'too much' }],
      [{ kind: 'text', text: 'broken off' }],
    );

    expect(await read(model.stream(aRequest(), never))).toEqual(textAnswer('one'));
    expect(await read(model.stream(aRequest(), never))).toEqual([
      { kind: 'text', text: 'broken off' },
      failedWith('cut_off', 'The script ends without a last event'),
    ]);
  });

  test('waits at a gate until it is released', async () => {
    const model = new ScriptedModel().enqueue([{ kind: 'gate', name: 'middle' }, ...textAnswer('one')]);
    const heard: ModelEvent[] = [];

    const reading = (async () => {
      for await (const event of model.stream(aRequest(), never)) heard.push(event);
    })();
    await model.reached('middle');
    expect(heard).toEqual([]);
    model.release('middle');
    await reading;

    expect(heard).toEqual(textAnswer('one'));
  });

  test('passes a gate that was released before', async () => {
    const model = new ScriptedModel().enqueue([{ kind: 'gate', name: 'middle' }, ...textAnswer('one')]);
    model.release('middle');

    expect(await read(model.stream(aRequest(), never))).toEqual(textAnswer('one'));
  });

  test.each([
    ['hangs', { kind: 'hang' } as const],
    ['waits at a gate', { kind: 'gate', name: 'middle' } as const],
  ])('ends as aborted when the signal aborts while it %s', async (_where, step) => {
    const model = new ScriptedModel().enqueue([{ kind: 'text', text: 'Hel' }, step, { kind: 'text', text: 'lo' }]);
    const controller = new AbortController();
    const heard: ModelEvent[] = [];

    for await (const event of model.stream(aRequest(), controller.signal)) {
      heard.push(event);
      if (event.kind === 'text') queueMicrotask(() => controller.abort());
    }

    expect(heard).toEqual([{ kind: 'text', text: 'Hel' }, aborted]);
  });

  test('ends as aborted between two events, and at once where the signal has aborted before', async () => {
    const model = new ScriptedModel().enqueue(textAnswer('one'), textAnswer('two'));
    const controller = new AbortController();
    const heard: ModelEvent[] = [];

    for await (const event of model.stream(aRequest(), controller.signal)) {
      heard.push(event);
      controller.abort();
    }

    expect(heard).toEqual([{ kind: 'text', text: 'one' }, aborted]);
    expect(await read(model.stream(aRequest(), controller.signal))).toEqual([aborted]);
  });

  test('tells when so many requests have arrived', async () => {
    const model = new ScriptedModel(() => textAnswer('hello'));
    const arrived: number[] = [];
    const waiting = [2, 1].map(async (count) => {
      await model.requested(count);
      arrived.push(count);
    });

    model.stream(aRequest(), never);
    await model.requested(1);
    expect(arrived).toEqual([1]);
    model.stream(aRequest(), never);
    await Promise.all(waiting);

    expect(arrived).toEqual([1, 2]);
  });
});
