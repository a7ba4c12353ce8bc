import { describe, expect, it } from 'vitest';
import type { Dialect, Said } from '../../support/loopback-model/dialect.ts';
import { dialects } from '../../support/loopback-model/dialects.ts';
import { aRig, callsOf, endOf } from './harness.ts';

const twoCalls: Said = {
  text: 'I look.',
  calls: [
    { id: 'call_A1', name: 'read_file', arguments: { path: '/tmp/ä.txt' } },
    { id: 'call_B2', name: 'list_files', arguments: { path: '/var', depth: 2 } },
  ],
};

const tools = ['read_file', 'list_files'].map((name) => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: 'object', properties: {} },
}));

/** Sockets that break are slower to make than clean ends, and the wire sees the same bytes. */
const breakEvery = 29;

describe.each(dialects)('an answer of $wire with two parallel calls', (dialect) => {
  it(
    'that is cut after any of its bytes is a failure, and never a step with half a call',
    { timeout: 120_000 },
    async () => {
      const bytes = Buffer.from(dialect.frames(twoCalls).join(''));
      const whole = wholeFrom(dialect);
      const { ask } = await aRig(
        async (call) => {
          const { at, how } = cutOf(call.request.path + call.request.rawBody);
          call.raw(bytes.subarray(0, at));
          if (how === 'end') return call.end();
          await call.sleep(5); // So that the bytes leave before the break.
          call.cut();
        },
        {},
        dialect.wire,
      );
      const cuts = Array.from({ length: bytes.length }, (_, at) => [
        { at, how: 'end' },
        ...(at % breakEvery === 0 ? [{ at, how: 'cut' }] : []),
      ]).flat();

      const wrong: string[] = [];
      await eachOf(cuts, async ({ at, how }) => {
        const events = await ask({
          tools,
          target: { provider: 'custom', model: `cut-${String(at)}-${how}-`, baseUrl: null },
        });
        const end = endOf(events);
        const calls = callsOf(events);
        const isTyped =
          end.kind === 'failed' && ['cut_off', 'unavailable'].includes(end.failure.reason) && calls.length === 0;
        const isWhole =
          end.kind === 'finished' && at >= whole && calls.length === 2 && calls.every(([, , text]) => isJson(text));
        if (!isTyped && !isWhole) wrong.push(`${how} after ${String(at)}: ${end.kind}, ${String(calls.length)} calls`);
      });

      expect(wrong).toEqual([]);
    },
  );
});

/** From which byte on the provider has said that the answer is whole. */
function wholeFrom(dialect: Dialect): number {
  const frames = dialect.frames(twoCalls);
  const last = frames.findIndex((frame) =>
    /"finish_reason":"tool_calls"|message_stop|response\.completed|"STOP"/.test(frame),
  );
  return Buffer.byteLength(frames.slice(0, last + 1).join('')) - 2;
}

function cutOf(text: string): { readonly at: number; readonly how: string } {
  const match = /cut-(\d+)-(\w+)-/.exec(text);
  return { at: Number(match?.[1]), how: match?.[2] ?? '' };
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
