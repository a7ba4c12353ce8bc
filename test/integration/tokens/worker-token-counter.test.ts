import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { WorkerTokenCounterOptions } from '../../../src/adapters/outbound/tokens/worker-token-counter.ts';
import { WorkerTokenCounter } from '../../../src/adapters/outbound/tokens/worker-token-counter.ts';

// The table takes a second to load, so the tests that need nothing special share one counter.
const shared = new WorkerTokenCounter();
afterAll(() => shared.close());

function aCounter(options: WorkerTokenCounterOptions = {}): WorkerTokenCounter {
  const counter = new WorkerTokenCounter(options);
  onTestFinished(() => counter.close());
  return counter;
}

const worker = (script: string) => () => new Worker(script, { eval: true });

describe('a count', () => {
  it("is the tokenizer's", async () => {
    expect(await shared.count(['a b c d e f g h', '{"a":1}', ''])).toEqual([8, 5, 0]);
  });

  it('is never below the bytes divided by four', async () => {
    const blanks = ' '.repeat(400);

    expect(await shared.count([blanks])).toEqual([100]);
  });

  it('takes the names of special tokens for text', async () => {
    const [count] = await shared.count(['<|endoftext|> and <|im_start|>']);

    expect(count).toBeGreaterThan(5);
  });

  it.each([
    ['400,000 equal letters', 'a'.repeat(400_000)],
    ['400,000 blanks', ' '.repeat(400_000)],
    ['200,000 signs of two units', '🎉'.repeat(100_000)],
    ['300,000 letters of base64', Buffer.alloc(225_000, 'xyz').toString('base64')],
  ])('of %s is there in a moment', async (_, text) => {
    await shared.count(['warm']);
    const startedAtMs = performance.now();

    const [count] = await shared.count([text]);

    expect(count).toBeGreaterThanOrEqual(text.length / 4);
    expect(performance.now() - startedAtMs).toBeLessThan(5000);
  });

  it('comes in the order of its texts, however many are asked at once', async () => {
    const counts = await Promise.all([
      shared.count(['one', 'one two']),
      shared.count(['one two three']),
      shared.count([]),
    ]);

    expect(counts).toEqual([[1, 2], [4], []]);
  });
});

describe('without a tokenizer the bytes decide', () => {
  it.each<[string, WorkerTokenCounterOptions]>([
    [
      'when the thread can not be started',
      {
        startWorker: () => {
          throw new Error('no threads here');
        },
      },
    ],
    ['when the thread dies as it loads', { startWorker: worker('throw new Error("no table")') }],
    [
      'when the thread dies over a text',
      { startWorker: worker('require("worker_threads").parentPort.on("message", () => process.exit(1))') },
    ],
    [
      'when the thread does not answer in time',
      { startWorker: worker('require("worker_threads").parentPort.on("message", () => {})'), patienceMs: 50 },
    ],
  ])('%s', async (_, options) => {
    const counter = aCounter(options);

    expect(await counter.count(['12345678', 'Grüße'])).toEqual([2, 2]);
  });

  it('and the thread is tried again, but not for ever', async () => {
    let starts = 0;
    const warnings: string[] = [];
    const counter = aCounter({
      startWorker: () => {
        starts += 1;
        return worker('throw new Error("no table")')();
      },
      logger: { warn: (message) => void warnings.push(message) },
    });

    for (let round = 0; round < 6; round += 1) await counter.count(['text']);

    expect(starts).toBe(3);
    expect(warnings).toHaveLength(3);
  });

  it('after the end of the counter, and who waits then is answered', async () => {
    const counter = aCounter();
    const asked = counter.count(['12345678']);

    counter.close();

    expect(await asked).toEqual([2]);
    expect(await counter.count(['12345678'])).toEqual([2]);
  });
});

describe('the thread', () => {
  it('does not keep the process alive, warm or after a count', () => {
    const script = `
      import { WorkerTokenCounter } from ${JSON.stringify(new URL('../../../src/adapters/outbound/tokens/worker-token-counter.ts', import.meta.url).href)};
      const counter = new WorkerTokenCounter();
      counter.warm();
      console.log(JSON.stringify(await counter.count(['hello world'])));
    `;

    const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      timeout: 20_000,
      encoding: 'utf8',
    });

    expect(run).toMatchObject({ status: 0, stdout: '[3]\n' });
  });
});
