import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/adapters/outbound/memory/fake-clock.ts';
import { call, noSignal, ToolBench } from '../../support/mcp/tool-bench.ts';

let bench: ToolBench;
beforeEach(async () => {
  bench = await ToolBench.open();
});
afterEach(() => bench.close());

describe('the reference server over stdio', () => {
  const everything = () => bench.host([bench.stdio('everything', { name: 'all' })]);

  test('lists its tools under legal names, in order, beside the built-in ones', async () => {
    const tools = await everything().list(['all', 'builtin.time'], noSignal);

    const names = tools.map(({ name }) => name);
    expect(names).toContain('all__echo');
    expect(names.at(-1)).toBe('time');
    expect(names).toEqual([...names].sort());
    expect(tools.find(({ name }) => name === 'all__echo')).toEqual({
      name: 'all__echo',
      description: 'Echoes back the input string',
      parameters: expect.objectContaining({ type: 'object', required: ['message'] }) as unknown,
      server: 'all',
      serverTool: 'echo',
    });
  });

  test('answers calls', async () => {
    const outcome = await call(everything(), 'all.echo', { message: 'good day' });

    expect(outcome).toEqual({ kind: 'answered', text: 'Echo: good day', isError: false });
  });

  test('has its images and resources described, and the text of its resources kept', async () => {
    const host = everything();

    expect(await call(host, 'all.get-tiny-image')).toMatchObject({
      text: expect.stringMatching(
        /^Here's the image you requested:\n\[image image\/png, \d+ (KB|bytes)\]\nThe image above is the MCP logo\.$/,
      ) as unknown,
    });
    expect(await call(host, 'all.get-resource-reference', { resourceType: 'Text', resourceId: 1 })).toMatchObject({
      text: expect.stringMatching(
        /\[resource demo:\/\/resource\/dynamic\/text\/1 text\/plain\]\nResource 1:/,
      ) as unknown,
    });
    expect(await call(host, 'all.get-resource-reference', { resourceType: 'Blob', resourceId: 1 })).toMatchObject({
      text: expect.stringMatching(/\[resource demo:\/\/resource\/dynamic\/blob\/1 text\/plain, \d+ bytes\]/) as unknown,
    });
  });

  test('has wrong arguments and tools that it does not know answered as errors for the model', async () => {
    const host = everything();

    const wrong = await call(host, 'all.get-sum', { a: 'one' });
    const unknown = await call(host, 'all.no-such-tool');

    expect(wrong).toMatchObject({
      kind: 'answered',
      isError: true,
      text: expect.stringContaining('get-sum') as unknown,
    });
    expect(unknown).toMatchObject({
      kind: 'answered',
      isError: true,
      text: expect.stringContaining('no-such-tool') as unknown,
    });
  });

  test('is started once for all who need it at the same time', async () => {
    const host = everything();

    await Promise.all([
      host.list(['all'], noSignal),
      host.list(['all'], noSignal),
      call(host, 'all.echo', { message: '' }),
    ]);

    expect(bench.lifeline.count(/^server: here/)).toBe(1);
    expect(host.health()).toEqual([
      { server: 'all', state: 'ready', tools: expect.any(Number) as unknown, restarts: 0, lastError: null },
    ]);
  });
});

describe('a server that kills itself in the middle of a call', () => {
  test('ends the call as possibly done, and is started again for the next one after a while', async () => {
    const clock = new FakeClock();
    const host = bench.host([bench.stdio('kills-itself')], clock);

    expect(await call(host, 'kills-itself.boom')).toEqual({
      kind: 'broken',
      reason: 'unavailable',
      message:
        'The call to the tool server "kills-itself" got no answer, because its process was ended by SIGKILL; whether it had an effect is unknown.',
      notStarted: false,
    });
    expect(host.health()).toEqual([
      {
        server: 'kills-itself',
        state: 'backing_off',
        tools: null,
        restarts: 0,
        lastError: 'its process was ended by SIGKILL',
      },
    ]);

    const next = call(host, 'kills-itself.hello');
    await clock.advance(999);
    expect(bench.lifeline.count(/^server: here/)).toBe(1);
    await clock.advance(1);

    expect(await next).toEqual({ kind: 'answered', text: 'hello', isError: false });
    expect(host.health()).toMatchObject([{ state: 'ready', restarts: 1, lastError: null }]);
  });

  test('breaks no other server', async () => {
    const host = bench.host([bench.stdio('kills-itself'), bench.stdio('large-output')]);

    await call(host, 'kills-itself.boom');

    expect(await call(host, 'large-output.hello')).toMatchObject({ text: 'hello' });
  });
});

describe('a server that can not be started', () => {
  test('contributes no tools and shows why in its health', async () => {
    const server = bench.stdio(
      'large-output',
      { name: 'absent' },
      { command: '/no/such/program', args: ['--token=secret'] },
    );
    const host = bench.host([server, bench.stdio('large-output')]);

    const tools = await host.list(['absent', 'large-output'], noSignal);

    expect(tools.map(({ name }) => name)).toEqual(['large-output__hello', 'large-output__large']);
    expect(host.health()[0]).toEqual({
      server: 'absent',
      state: 'backing_off',
      tools: null,
      restarts: 0,
      lastError: "its process can't be started (ENOENT)",
    });
  });

  test('has calls answered as not started', async () => {
    const host = bench.host([bench.stdio('large-output', { name: 'absent' }, { cwd: '/no/such/folder' })]);

    expect(await call(host, 'absent.hello')).toMatchObject({ kind: 'broken', reason: 'unavailable', notStarted: true });
  });
});

describe('a server that never answers the handshake', () => {
  test('is given up after its startup timeout, and its process is killed', async () => {
    const clock = new FakeClock();
    const host = bench.host([bench.stdio('never-initializes', { startupTimeoutMs: 7_000 })], clock);

    const listing = host.list(['never-initializes'], noSignal);
    await bench.lifeline.heard(/^server: here/);
    await clock.advance(7_000);

    expect(await listing).toEqual([]);
    await bench.lifeline.heard(/^server: gone/);
    expect(host.health()).toMatchObject([{ state: 'backing_off', lastError: 'it was not ready within 7000 ms' }]);
  });

  test('does not hold a caller that stops waiting', async () => {
    const host = bench.host([bench.stdio('never-initializes')]);
    const stop = new AbortController();

    const calling = call(host, 'never-initializes.hello', {}, stop.signal);
    await bench.lifeline.heard(/^server: here/);
    stop.abort();

    expect(await calling).toMatchObject({ kind: 'broken', reason: 'aborted', notStarted: true });
  });
});

describe('a server that prints garbage on stdout', () => {
  test('works, and the garbage goes to the debug log', async () => {
    const host = bench.host([bench.stdio('prints-garbage')]);

    expect(await call(host, 'prints-garbage.hello')).toEqual({ kind: 'answered', text: 'hello', isError: false });
    const odd = bench.logger.lines.filter(({ message }) => message === 'tool server did something unexpected');
    expect(odd).toContainEqual({
      level: 'debug',
      message: 'tool server did something unexpected',
      fields: { server: 'prints-garbage', text: 'not a message on stdout: Listening…' },
    });
  });
});

describe('a server with names that are not legal', () => {
  test('has its tools listed under legal and different names, by which they can be called', async () => {
    const host = bench.host([bench.stdio('weird-names', { name: 'weird' })]);

    const tools = await host.list(['weird'], noSignal);

    const names = tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(9);
    for (const name of names) expect(name).toMatch(/^weird__[A-Za-z0-9_-]{1,57}$/);
    expect(tools.find(({ serverTool }) => serverTool === 'plain')).toMatchObject({
      description: '',
      parameters: { type: 'object' },
    });
    for (const tool of tools) {
      expect(await host.call({ callId: 'c', sessionId: 's', tool, arguments: {} }, noSignal)).toMatchObject({
        text: `this is ${tool.serverTool}`,
      });
    }
  });

  test('has single tools selected by the names that it knows them by', async () => {
    const host = bench.host([bench.stdio('weird-names', { name: 'weird' })]);

    const tools = await host.list(['weird.with.dot', 'weird.absent', 'weird.plain', 'nobody.tool'], noSignal);

    expect(tools.map(({ serverTool }) => serverTool).sort()).toEqual(['plain', 'with.dot']);
    expect(bench.logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
      { entry: 'nobody.tool' },
      { entry: 'weird.absent' },
    ]);
  });
});

describe('a server whose tools change', () => {
  test('is asked for its list once, and again only after it has said so', async () => {
    const host = bench.host([bench.stdio('changing-tools', { name: 'pupil' })]);
    const names = async () => (await host.list(['pupil'], noSignal)).map(({ serverTool }) => serverTool);

    expect([await names(), await names()]).toEqual([['learn'], ['learn']]);
    await bench.lifeline.heard(/list/);
    expect(bench.lifeline.count(/list/)).toBe(1);

    await call(host, 'pupil.learn', { name: 'dance' });

    expect(await names()).toEqual(['dance', 'learn']);
    expect(await call(host, 'pupil.dance')).toMatchObject({ text: 'this is dance' });
    await bench.lifeline.heard(/list 2/);
    expect(bench.lifeline.count(/list/)).toBe(2);
  });
});

describe('large output', () => {
  test('of 5 MB arrives whole', async () => {
    const host = bench.host([bench.stdio('large-output')]);

    const outcome = await call(host, 'large-output.large', { bytes: 5_000_000 });

    expect(outcome).toEqual({ kind: 'answered', text: 'x'.repeat(5_000_000), isError: false });
  });

  test('over the limit is cut, and says how much is missing', async () => {
    const host = bench.host([bench.stdio('large-output', { maxOutputBytes: 1_000 })]);

    expect(await call(host, 'large-output.large', { bytes: 1_500 })).toEqual({
      kind: 'answered',
      text: `${'x'.repeat(1_000)}\n[output cut: 1000 of 1500 bytes kept]`,
      isError: false,
    });
  });

  test('that is more than a message may have breaks its own call only', async () => {
    const host = bench.host([bench.stdio('large-output', { maxOutputBytes: 1_000 })]);

    const [large, hello] = await Promise.all([
      call(host, 'large-output.large', { bytes: 20_000_000 }),
      call(host, 'large-output.hello'),
    ]);

    expect(large).toMatchObject({ kind: 'broken', reason: 'output_too_large', notStarted: false });
    expect(hello).toMatchObject({ kind: 'answered', text: 'hello' });
    expect(bench.lifeline.count(/^server: here/)).toBe(1);
  });
});

describe("a stdio server's environment", () => {
  const secretive = () => bench.host([bench.stdio('prints-secret', {}, { env: { SECRET: 'tr0ub4dor' } })]);

  test('has the configured variables, PATH and HOME, and nothing else of ours', async () => {
    expect(await call(secretive(), 'prints-secret.environment')).toMatchObject({ text: 'HOME LIFELINE PATH SECRET' });
  });

  test('is seen in no log line and no error, whatever the server prints', async () => {
    const host = secretive();

    const outcome = await call(host, 'prints-secret.leak');

    expect(outcome).toMatchObject({ kind: 'broken', message: expect.stringContaining('code 3') as unknown });
    expect(bench.logged).toContain('my secret is [secret]');
    expect(bench.logged + JSON.stringify([outcome, host.health()])).not.toContain('tr0ub4dor');
  });

  test('and what it prints on stderr fills no log', async () => {
    await call(secretive(), 'prints-secret.chatter');

    const lines = bench.logger.lines.filter(({ level }) => level === 'debug');
    expect(lines.length).toBeLessThan(150);
    for (const { fields } of lines) expect(JSON.stringify(fields).length).toBeLessThan(1_200);
  });
});
