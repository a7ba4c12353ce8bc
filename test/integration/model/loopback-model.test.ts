import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeProvider } from '../../../src/adapters/outbound/model/make-provider.ts';
import { makeGate, parked, textAnswer, withinCharacters } from '../../support/loopback-model/answers.ts';
import { aRequest, aRig, eventsOf, failureOf, textOf } from './harness.ts';

/* The test server itself: what other tests build on. */

describe('the loopback model', () => {
  it('answers from its queue first, and records what it was sent', async () => {
    const { ask, model } = await aRig(textAnswer('standing'));
    model.enqueue(textAnswer('first'), textAnswer('second'));

    const texts = [textOf(await ask()), textOf(await ask()), textOf(await ask())];

    expect(texts).toEqual(['first', 'second', 'standing']);
    expect(model.chats.map(({ messages }) => messages)).toEqual(Array(3).fill([{ role: 'user', content: 'Hello' }]));
  });

  it('parks a request until its gate opens', async () => {
    const gate = makeGate();
    const { ask, model } = await aRig(parked(gate, textAnswer('free')));
    const asked = ask();
    await model.waitForRequests(1);

    expect(model.openCallCount).toBe(1);
    gate.open();

    expect(textOf(await asked)).toBe('free');
  });

  it('refuses what is over its window, as OpenAI does', async () => {
    const { ask } = await aRig(withinCharacters(200, textAnswer('ok')));

    expect(textOf(await ask())).toBe('ok');
    expect(failureOf(await ask({ messages: [{ role: 'user', text: 'x'.repeat(300), parts: null }] })).reason).toBe(
      'context_overflow',
    );
  });

  it('runs as a process of its own', async () => {
    const main = fileURLToPath(new URL('../../support/loopback-model/main.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', main, '--port', '0', '--words', '3', '--quiet'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string]; // A line is a text.
    const provider = makeProvider('openai-compatible', { baseUrl: url, apiKey: null });
    onTestFinished(() => provider.close());

    const events = await eventsOf(provider.stream(aRequest(), new AbortController().signal));
    child.kill('SIGTERM');
    const [exitCode] = (await once(child, 'exit')) as [number | null];

    expect(textOf(events)).toBe('word1 word2 word3');
    expect(exitCode).toBe(0);
  });
});
