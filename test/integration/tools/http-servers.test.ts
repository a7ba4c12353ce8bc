import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/adapters/outbound/memory/fake-clock.ts';
import { answerJson, beginEvents, sendEvent, TinyHttpServer, type HttpTool } from '../../support/mcp/http-server.ts';
import { aServer, call, noSignal, ToolBench } from '../../support/mcp/tool-bench.ts';

let bench: ToolBench;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  bench = await ToolBench.open();
});
afterEach(async () => {
  // The hosts first, so that they meet servers that live.
  await bench.closeHosts();
  for (const close of closing.splice(0)) await close();
  await bench.close();
});

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const hello: HttpTool = (response, id) => answerJson(response, id, text('hello'));

async function tiny(tools: Readonly<Record<string, HttpTool>>): Promise<TinyHttpServer> {
  const server = await TinyHttpServer.open(tools);
  closing.push(() => server.close());
  return server;
}

const http = (url: string, over = {}, headers = {}) =>
  aServer({ name: 'web', ...over, transport: { kind: 'http', url, headers } });

describe('the reference server over streamable HTTP', () => {
  test('lists its tools, answers calls, and has a stopped call ended', async () => {
    const script = join(import.meta.dirname, '../../support/mcp/servers/everything.mjs');
    const env = { PATH: process.env['PATH'], LIFELINE: bench.lifeline.path, PORT: '0' };
    const child = spawn(process.execPath, [script, 'streamableHttp'], { env, stdio: 'ignore' });
    closing.push(async () => child.kill('SIGKILL'));
    const port = await bench.lifeline.heard(/port (\d+)/);
    const host = bench.host([http(`http://127.0.0.1:${port}/mcp`)]);

    const tools = await host.list(['web.echo'], noSignal);
    const stop = new AbortController();
    const long = call(host, 'web.trigger-long-running-operation', { duration: 1_000, steps: 1 }, stop.signal);
    const echo = await call(host, 'web.echo', { message: 'good day' });
    stop.abort();

    expect(tools.map(({ name }) => name)).toEqual(['web__echo']);
    expect(echo).toEqual({ kind: 'answered', text: 'Echo: good day', isError: false });
    expect(await long).toMatchObject({ kind: 'broken', reason: 'aborted' });
    expect(await call(host, 'web.echo', { message: 'again' })).toMatchObject({ text: 'Echo: again' });
    expect(host.health()).toMatchObject([{ state: 'ready', restarts: 0 }]);
  });
});

describe('an HTTP server', () => {
  test('gets the configured headers with each request, and hears that the session ends', async () => {
    const server = await tiny({ hello });
    const host = bench.host([http(server.url, {}, { Authorization: 'Bearer tr0ub4dor' })]);

    expect(await call(host, 'web.hello')).toEqual({ kind: 'answered', text: 'hello', isError: false });
    await host.close();

    expect(server.heard.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'GET', 'DELETE']),
    );
    for (const { headers } of server.heard) expect(headers.authorization).toBe('Bearer tr0ub4dor');
  });

  test('that is not there leaves its calls not started', async () => {
    const gone = await TinyHttpServer.open({});
    const { url } = gone;
    await gone.close();
    const host = bench.host([http(url)]);

    expect(await call(host, 'web.hello')).toEqual({
      kind: 'broken',
      reason: 'unavailable',
      message: `The call to the tool server "web" was not sent, because it can't be reached (ECONNREFUSED); it had no effect.`,
      notStarted: true,
    });
    expect(host.health()).toMatchObject([{ state: 'backing_off', lastError: "it can't be reached (ECONNREFUSED)" }]);
  });

  test('that turns the session down is joined anew for the next call', async () => {
    const server = await tiny({ hello });
    const host = bench.host([http(server.url)], new FakeClock());
    await call(host, 'web.hello');

    server.session = 'session-2';

    expect(await call(host, 'web.hello')).toMatchObject({ kind: 'broken', reason: 'unavailable', notStarted: true });
    expect(await call(host, 'web.hello')).toMatchObject({ kind: 'answered', text: 'hello' });
    expect(host.health()).toMatchObject([{ state: 'ready', restarts: 1, lastError: null }]);
  });

  test('that repeats a secret in an error has it in no log line and no message', async () => {
    const server = await tiny({
      leak: (response) => void response.writeHead(500).end('your token is tr0ub4dor, your key is k3y-in-url'),
      refuse: (response, id) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'bad token tr0ub4dor' } }));
      },
    });
    const host = bench.host([http(`${server.url}?key=k3y-in-url`, {}, { Authorization: 'Bearer tr0ub4dor' })]);

    const refused = await call(host, 'web.refuse');
    const outcome = await call(host, 'web.leak');

    expect(refused).toEqual({ kind: 'answered', text: 'bad token [secret] (JSON-RPC error -32000)', isError: true });
    expect(outcome).toMatchObject({
      kind: 'broken',
      message: expect.stringContaining('it answered with HTTP 500') as unknown,
      notStarted: false,
    });
    expect(bench.logged).toContain('your token is [secret], your key is [secret]');
    expect(bench.logged + JSON.stringify([outcome, host.health()])).not.toMatch(/tr0ub4dor|k3y-in-url/);
  });

  test('that breaks off in the middle of an answer ends the call as possibly done', async () => {
    const server = await tiny({
      breakOff: (response) => {
        beginEvents(response);
        response.destroy();
      },
      end: (response) => {
        beginEvents(response);
        response.end();
      },
    });
    const lost = { kind: 'broken', reason: 'unavailable', notStarted: false };

    expect(await call(bench.host([http(server.url)]), 'web.breakOff')).toMatchObject(lost);
    expect(await call(bench.host([http(server.url)]), 'web.end')).toMatchObject(lost);
  });

  test('that ignores a stopped call has its request closed', async () => {
    const server = await tiny({ silent: () => undefined, streaming: (response) => beginEvents(response) });
    for (const tool of ['web.silent', 'web.streaming']) {
      const host = bench.host([http(server.url)]);
      server.heard.length = 0;
      const stop = new AbortController();
      const calling = call(host, tool, {}, stop.signal);
      await server.hears('tools/call');
      stop.abort();

      expect(await calling).toMatchObject({ kind: 'broken', reason: 'aborted', notStarted: false });
      await server.hears('notifications/cancelled');
      await server.hears('closed tool');
    }
  });

  test('that sends more than a message may have breaks its own call only', async () => {
    const large = text('x'.repeat(3_000_000));
    const server = await tiny({
      json: (response, id) => answerJson(response, id, large),
      events: (response, id) => {
        beginEvents(response);
        sendEvent(response, id, large);
      },
      hello,
    });
    const host = bench.host([http(server.url, { maxOutputBytes: 1_000 })]);

    const outcomes = await Promise.all(['web.json', 'web.events', 'web.hello'].map((tool) => call(host, tool)));

    expect(outcomes).toMatchObject([{ reason: 'output_too_large' }, { reason: 'output_too_large' }, { text: 'hello' }]);
    expect(host.health()).toMatchObject([{ state: 'ready', restarts: 0 }]);
  });

  test('that streams its answer has it taken', async () => {
    const server = await tiny({
      events: (response, id) => {
        beginEvents(response);
        sendEvent(response, id, text('streamed'));
        response.end();
      },
    });

    expect(await call(bench.host([http(server.url)]), 'web.events')).toMatchObject({
      kind: 'answered',
      text: 'streamed',
    });
  });
});
