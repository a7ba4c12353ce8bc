import { describe, expect, it } from 'vitest';
import { hangsAfter, hangsBeforeHeaders, keepAlivesOnly, textAnswer } from '../../support/loopback-model/answers.ts';
import type { ModelEvent } from '../../../src/core/ports/model-provider.ts';
import { aRequest, aRig, endOf, eventsOf, failureOf, textOf } from './harness.ts';

describe('a provider that goes silent', () => {
  const quick = { firstByteTimeoutMs: 80, idleTimeoutMs: 80 };

  it('before the headers has stalled (D25)', async () => {
    const { ask, model } = await aRig(hangsBeforeHeaders, quick);

    expect(failureOf(await ask())).toMatchObject({ reason: 'stalled', retryable: true });
    await expect.poll(() => model.openCallCount).toBe(0);
  });

  it('after the headers has stalled (D25)', async () => {
    const { ask } = await aRig(hangsAfter(''), quick);

    expect(failureOf(await ask()).reason).toBe('stalled');
  });

  it('after three words has stalled, and the words stay (D25)', async () => {
    const { ask, model } = await aRig(hangsAfter('one two three'), quick);

    const events = await ask();

    expect(textOf(events)).toBe('one two three');
    expect(failureOf(events).reason).toBe('stalled');
    await expect.poll(() => model.openCallCount).toBe(0);
  });

  it('in the middle of a body that is no stream has stalled', async () => {
    const { ask } = await aRig((call) => {
      call.response.writeHead(200, { 'content-type': 'application/json' });
      call.response.write('{"choices":[');
      return call.closed;
    }, quick);

    expect(failureOf(await ask()).reason).toBe('stalled');
  });

  // F51
  it('but for keep-alives has stalled when no data comes in time', async () => {
    const { ask } = await aRig(keepAlivesOnly(10), quick);

    expect(failureOf(await ask()).reason).toBe('stalled');
  });

  it('but for keep-alives after some text has stalled', async () => {
    const { ask } = await aRig(keepAlivesOnly(10, 'one'), quick);

    const events = await ask();

    expect(textOf(events)).toBe('one');
    expect(failureOf(events).reason).toBe('stalled');
  });

  it('but for keep-alives may think longer than the silence that is allowed before its first data', async () => {
    const { ask } = await aRig(
      async (call) => {
        for (let beat = 0; beat < 20; beat += 1) {
          call.comment();
          await call.sleep(10);
        }
        await textAnswer('at last')(call);
      },
      { ...quick, firstDataTimeoutMs: 5000 },
    );

    expect(textOf(await ask())).toBe('at last');
  });

  it('has not stalled while arguments come letter by letter for longer than the idle limit (D26)', async () => {
    const letters = `{"text":"${'x'.repeat(12)}"}`;
    const { ask } = await aRig(
      async (call) => {
        call.delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'write', arguments: '' } }] });
        for (const letter of letters) {
          await call.sleep(25);
          call.delta({ tool_calls: [{ index: 0, function: { arguments: letter } }] });
        }
        call.delta({}, 'tool_calls');
        call.done();
      },
      { idleTimeoutMs: 200 },
    );

    const events = await ask();

    expect(events.at(-2)).toMatchObject({ kind: 'tool_call', call: { arguments: letters } });
  });

  it('drips bytes without ever finishing a frame has stalled', async () => {
    const { ask } = await aRig(async (call) => {
      call.delta({ content: 'one' });
      while (!call.isClosed) {
        call.raw('d');
        await call.sleep(10);
      }
    }, quick);

    expect(failureOf(await ask()).reason).toBe('stalled');
  });

  it('never ends although it is lively: the total ends it', async () => {
    const { ask } = await aRig(
      async (call) => {
        while (!call.isClosed) {
          call.data({ choices: [{ delta: {} }] });
          await call.sleep(10);
        }
      },
      { ...quick, totalTimeoutMs: 300 },
    );

    expect(failureOf(await ask()).reason).toBe('stalled');
  });

  it('is not blamed for a reader of ours that is slow', async () => {
    const { provider } = await aRig(textAnswer('one two three four five six'), {
      idleTimeoutMs: 60,
      tailTimeoutMs: 60,
    });
    const events: ModelEvent[] = [];

    for await (const event of provider.stream(aRequest(), new AbortController().signal)) {
      events.push(event);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }

    expect(textOf(events)).toBe('one two three four five six');
    expect(endOf(events).kind).toBe('finished');
  });
});

describe('an abort', () => {
  it.each([
    ['before the headers', hangsBeforeHeaders],
    ['after the headers', hangsAfter('')],
    ['in the middle of the text', hangsAfter('one two')],
    ['during keep-alives', keepAlivesOnly(5)],
  ])('%s ends the stream soon with "aborted" and closes the connection', async (_, answer) => {
    const { ask, model } = await aRig(answer);
    const stop = new AbortController();
    const asked = ask({}, stop.signal);
    await model.waitForRequests(1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const abortedAtMs = performance.now();

    stop.abort(new Error('a reason of its own'));
    const events = await asked;

    expect(failureOf(events)).toMatchObject({ reason: 'aborted', retryable: false });
    expect(performance.now() - abortedAtMs).toBeLessThan(500);
    await expect.poll(() => model.openCallCount).toBe(0);
  });

  it('before the request sends nothing', async () => {
    const { ask, model } = await aRig();

    expect(failureOf(await ask({}, AbortSignal.abort())).reason).toBe('aborted');
    expect(model.requests).toEqual([]);
  });

  it("while an event is in the reader's hands wins over a finish that came meanwhile", async () => {
    const { provider } = await aRig(textAnswer('one'));
    const stop = new AbortController();
    const events: ModelEvent[] = [];

    for await (const event of provider.stream(aRequest(), stop.signal)) {
      events.push(event);
      if (event.kind !== 'text') continue;
      await new Promise((resolve) => setTimeout(resolve, 50));
      stop.abort();
    }

    expect(failureOf(events).reason).toBe('aborted');
  });

  it('by a reader that walks away closes the connection', async () => {
    const { provider, model } = await aRig(hangsAfter('one two'));

    for await (const event of provider.stream(aRequest(), new AbortController().signal)) {
      if (event.kind === 'text') break;
    }

    await expect.poll(() => model.openCallCount).toBe(0);
  });

  it('leaves no listener behind on a signal that is used for many requests', async () => {
    const { provider } = await aRig(textAnswer('ok'));
    const stop = new AbortController();
    const listeners = new Set<unknown>();
    const add = stop.signal.addEventListener.bind(stop.signal);
    const remove = stop.signal.removeEventListener.bind(stop.signal);
    stop.signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners.add(given[1]);
      add(...given);
    };
    stop.signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners.delete(given[1]);
      remove(...given);
    };

    await eventsOf(provider.stream(aRequest(), stop.signal));
    await eventsOf(provider.stream(aRequest(), stop.signal));

    expect(listeners.size).toBe(0);
  });

  it('at any instant ends with exactly one end and breaks nothing else', async () => {
    const { ask, model } = await aRig(textAnswer('one two three four five six', { delayMs: 1 }));

    for (let round = 0; round < 120; round += 1) {
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), round % 24);
      const end = endOf(await ask({}, stop.signal));
      clearTimeout(timer);
      if (end.kind === 'failed') expect(end.failure.reason).toBe('aborted');
    }

    await expect.poll(() => model.openCallCount).toBe(0);
  });
});
