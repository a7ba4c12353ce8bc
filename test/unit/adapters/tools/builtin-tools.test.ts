import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { MemoryQueries } from '../../../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../../../src/adapters/outbound/memory/memory-store.ts';
import { silentLogger } from '../../../../src/adapters/outbound/memory/silent-logger.ts';
import { McpToolHost } from '../../../../src/adapters/outbound/tools/mcp-tool-host.ts';
import { aServer, aTool, call, noSignal } from '../../../support/mcp/tool-bench.ts';

const hostWith = (names: readonly string[], clock = new FakeClock('2030-07-02T22:30:05.123Z')) =>
  new McpToolHost({
    servers: names.map((name) => aServer({ name })),
    inheritedEnv: {},
    clientVersion: '0.0.0',
    clock,
    queries: new MemoryQueries(new MemoryStore('store-1')),
    logger: silentLogger,
  });

describe('the built-in tool `time`', () => {
  const host = hostWith([]);

  test('is listed by its own name, and by that of all built-in tools', async () => {
    const [time] = await host.list(['builtin.time'], noSignal);

    expect(time).toMatchObject({ name: 'time', server: 'builtin', serverTool: 'time', parameters: { type: 'object' } });
    const all = await host.list(['builtin', 'builtin.time'], noSignal);
    expect(all.map(({ name }) => name)).toEqual(['search_history', 'time']);
    expect(await host.list([], noSignal)).toEqual([]);
  });

  test('tells the time in UTC, or in the time zone that it is asked for', async () => {
    const times = [{}, { time_zone: 'Europe/Berlin' }, { time_zone: 'America/St_Johns' }, { time_zone: 'asia/tokyo' }];

    expect(await Promise.all(times.map((args) => call(host, 'builtin.time', args)))).toEqual(
      [
        'Tuesday 2030-07-02 22:30:05 +00:00 (UTC)',
        'Wednesday 2030-07-03 00:30:05 +02:00 (Europe/Berlin)',
        'Tuesday 2030-07-02 20:00:05 -02:30 (America/St_Johns)',
        'Wednesday 2030-07-03 07:30:05 +09:00 (Asia/Tokyo)',
      ].map((text) => ({ kind: 'answered', text, isError: false })),
    );
  });

  test('answers a time zone that there is not with an error for the model', async () => {
    expect(await call(host, 'builtin.time', { time_zone: 'Mars/Olympus' })).toEqual({
      kind: 'answered',
      text: 'There is no time zone "Mars/Olympus". Use an IANA name such as "Europe/Berlin".',
      isError: true,
    });
    expect(await call(host, 'builtin.time', { time_zone: 5 })).toMatchObject({ kind: 'answered', isError: true });
  });
});

describe('a host', () => {
  test('has nothing to run for a tool or server that it does not know', async () => {
    for (const entry of ['builtin.dance', 'web.get']) {
      expect(await call(hostWith([]), entry)).toEqual({
        kind: 'broken',
        reason: 'unknown_tool',
        message: `There is no tool "${aTool(entry).serverTool}" on a server "${aTool(entry).server}" any more.`,
        notStarted: true,
      });
    }
  });

  test('takes no two servers with one name, and none with the name of the built-in one', () => {
    expect(() => hostWith(['web', 'web'])).toThrow('Two tool servers have one name');
    expect(() => hostWith(['builtin'])).toThrow('Two tool servers have one name');
  });

  test('starts no server before it is needed', () => {
    expect(hostWith(['web', 'files']).health()).toEqual(
      ['web', 'files'].map((server) => ({ server, state: 'idle', tools: null, restarts: 0, lastError: null })),
    );
  });
});
