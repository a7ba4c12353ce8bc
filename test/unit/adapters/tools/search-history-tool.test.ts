import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { MemoryQueries } from '../../../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../../../src/adapters/outbound/memory/memory-store.ts';
import { RecordingLogger } from '../../../../src/adapters/outbound/memory/recording-logger.ts';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { McpToolHost } from '../../../../src/adapters/outbound/tools/mcp-tool-host.ts';
import type { SearchedQueries } from '../../../../src/adapters/outbound/tools/search-history-tool.ts';
import type { ToolOutcome } from '../../../../src/core/ports/tool-host.ts';
import { aToolCall } from '../../../support/builders.ts';
import { aTool, noSignal } from '../../../support/mcp/tool-bench.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';
import { textOf } from '../../core/use-cases/pressure.ts';

const hostOn = (queries: SearchedQueries, logger = new RecordingLogger()): McpToolHost =>
  new McpToolHost({
    servers: [],
    inheritedEnv: {},
    clientVersion: '0.0.0',
    clock: new FakeClock(),
    queries,
    logger,
  });

let core: MemoryGateway;
let sessionId: string;

beforeEach(async () => {
  core = await MemoryGateway.started();
  sessionId = await core.create();
});

function ask(args: Record<string, unknown>, host = hostOn(core.queries), signal = noSignal): Promise<ToolOutcome> {
  return host.call({ callId: 'c1', sessionId, tool: aTool('builtin.search_history'), arguments: args }, signal);
}

async function textFor(args: Record<string, unknown>, host?: McpToolHost): Promise<string> {
  const outcome = await ask(args, host);
  if (outcome.kind !== 'answered' || outcome.isError) throw new Error(JSON.stringify(outcome));
  return outcome.text;
}

describe('the built-in tool `search_history`', () => {
  test('finds what was said in its session, newest first, with who said it and when', async () => {
    await core.turn(sessionId, 'a', 'a Zebra crossing');
    await core.turn(sessionId, 'b', 'two zebras and a zebra');

    expect(await textFor({ query: 'zebra' })).toBe(
      [
        'Message 3, user, 2030-01-01T00:00:00.000Z:\ntwo zebras and a zebra',
        'Message 1, user, 2030-01-01T00:00:00.000Z:\na Zebra crossing',
      ].join('\n\n'),
    );
    expect(await textFor({ query: 'fine' })).toContain('Message 4, assistant');
    expect(await textFor({ query: 'giraffe' })).toContain('No message holds all of these words.');
  });

  test('sees no other session, not even one of the same person or what it was forked from', async () => {
    await core.turn(sessionId, 'a', 'a zebra crossing');
    const other = await core.create();
    await core.turn(other, 'a', 'another zebra');
    sessionId = await core.create();

    expect(await textFor({ query: 'zebra' })).toContain('No message holds');
    expect(await ask({ query: 'zebra', session_id: other })).toMatchObject({ text: /No message/ });
  });

  test('answers a bounded page, cuts what is long, and can be read on', async () => {
    for (let n = 1; n <= 12; n += 1) await core.turn(sessionId, `input-${n}`, `zebra ${n} ${'long '.repeat(10_000)}`);

    const first = await textFor({ query: 'zebra' });
    const before = Number(/`before`: (\d+)/.exec(first)?.[1]);
    const second = await textFor({ query: 'zebra', before });

    expect(first.length).toBeLessThan(6_000);
    expect(first.match(/zebra \d+/g)).toHaveLength(10);
    expect(first).toContain('[…]');
    expect(second.match(/zebra \d+/g)).toEqual(['zebra 2', 'zebra 1']);
    expect(second).not.toContain('`before`');
  });

  test.each([{}, { query: 5 }, { query: ' "" ' }, { query: 'zebra', before: 'x' }, { query: 'zebra', before: -1 }])(
    'tells the model what is wrong with %j',
    async (args) => {
      expect(await ask(args)).toMatchObject({ kind: 'answered', isError: true });
    },
  );

  test.each(['"', 'NEAR(zebra', "zebra'; DROP TABLE words", '\ud83d zebra', 'x'.repeat(10_000)])(
    'takes every text as a query: %j',
    async (query) => {
      expect(await ask({ query })).toMatchObject({ kind: 'answered' });
    },
  );

  test('says that the index is behind, also when it found nothing', async () => {
    await core.turn(sessionId, 'a', 'a zebra crossing');
    const late: SearchedQueries = {
      findSession: (id) => core.queries.findSession(id),
      search: async (query) => ({ ...(await core.queries.search(query)), behind: true }),
    };

    for (const query of ['zebra', 'giraffe'])
      expect(await textFor({ query }, hostOn(late))).toContain('messages may be missing from this answer');
  });

  test('that can’t read the store is broken without an effect, and says nothing of why to the model', async () => {
    const logger = new RecordingLogger();
    const broken: SearchedQueries = {
      findSession: () => Promise.reject(new Error('secret detail')),
      search: () => Promise.reject(new Error('secret detail')),
    };

    expect(await ask({ query: 'zebra' }, hostOn(broken, logger))).toEqual({
      kind: 'broken',
      reason: 'unavailable',
      message: 'The tool does not work at the moment.',
      notStarted: true,
    });
    expect(logger.lines).toMatchObject([{ level: 'error', message: 'a built-in tool failed' }]);
  });

  test('ends with its turn', async () => {
    const stopped = new AbortController();
    const hanging: SearchedQueries = {
      findSession: () => new Promise(() => undefined),
      search: () => new Promise(() => undefined),
    };

    const asked = ask({ query: 'zebra' }, hostOn(hanging), stopped.signal);
    stopped.abort();

    expect(await asked).toMatchObject({ kind: 'broken', reason: 'aborted' });
  });
});

test('a model finds with it what a compression took out of its sight', async () => {
  const store = new MemoryStore('store-1');
  const model = new ScriptedModel((request) => {
    if (request.purpose === 'summary') return textAnswer('SUMMARY');
    const [tool] = request.tools;
    const wants = request.messages.at(-1)?.text.includes('Which animal') === true;
    if (wants && tool !== undefined)
      return toolAnswer([aToolCall({ id: 'call-1', name: tool.name, arguments: '{"query":"secret animal"}' })]);
    return textAnswer(textOf(100, 'answer'));
  });
  core = await MemoryGateway.started({
    store,
    model,
    tools: hostOn(new MemoryQueries(store)),
    window: { contextTokens: 1200, outputTokens: 100 },
    policy: { protectFirstN: 0 },
  });
  sessionId = await core.create({ toolsets: ['builtin.search_history'] });
  await core.turn(sessionId, 'a', `the secret animal is a zebra ${textOf(200, 'padding')}`);
  for (const name of ['b', 'c', 'd', 'e', 'f']) await core.turn(sessionId, name, textOf(200, name));
  expect((await core.texts(sessionId)).join()).not.toContain('zebra');

  await core.turn(sessionId, 'g', 'Which animal was it?');

  const tool = core
    .requests('turn')
    .at(-1)
    ?.messages.find(({ role }) => role === 'tool');
  expect(tool?.text).toContain('the secret animal is a zebra');
});
