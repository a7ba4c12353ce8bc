import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, noSignal, ToolBench } from '../../support/mcp/tool-bench.ts';

let bench: ToolBench;
beforeEach(async () => {
  bench = await ToolBench.open();
});
afterEach(() => bench.close());

const host = (timeoutMs = 20_000) => bench.host([bench.stdio('ignores-cancel', { name: 'mule', timeoutMs })]);
const uncertain = 'whether it had an effect is unknown.';

describe('a stopped call', () => {
  test('of a tool that ignores it ends within two seconds, and its server and grandchild are dead', async () => {
    const mule = host();
    const stop = new AbortController();
    const calling = call(mule, 'mule.stubborn', {}, stop.signal);
    await bench.lifeline.heard(/^grandchild: here/);

    const stoppedAt = performance.now();
    stop.abort();
    const outcome = await calling;

    expect(performance.now() - stoppedAt).toBeLessThan(2_000);
    expect(outcome).toEqual({
      kind: 'broken',
      reason: 'aborted',
      message: `The call to the tool server "mule" was stopped; ${uncertain}`,
      notStarted: false,
    });
    await bench.lifeline.heard(/^server: cancelled/);
    await bench.lifeline.heard(/^server: ignores SIGTERM/);
    await bench.lifeline.allGone();
  });

  test('of a tool that heeds it leaves the server running, and its late answer is dropped', async () => {
    const mule = host();
    const stop = new AbortController();
    const calling = call(mule, 'mule.obedient', {}, stop.signal);
    await bench.lifeline.heard(/obedient began/);

    stop.abort();

    expect(await calling).toMatchObject({ kind: 'broken', reason: 'aborted', notStarted: false });
    expect(await call(mule, 'mule.hello')).toMatchObject({
      kind: 'answered',
      text: expect.stringMatching(/^hello/) as unknown,
    });
    expect(bench.lifeline.count(/^server: here/)).toBe(1);
  });

  test('is not a failure of its server: the next call starts a new one at once', async () => {
    const mule = host();
    const stop = new AbortController();
    const calling = call(mule, 'mule.stubborn', {}, stop.signal);
    await bench.lifeline.heard(/^grandchild: here/);
    stop.abort();
    await calling;

    expect(await call(mule, 'mule.hello')).toMatchObject({ kind: 'answered' });
    expect(mule.health()).toMatchObject([{ state: 'ready', restarts: 1, lastError: null }]);
  });

  test("does not break another session's call on the same server, which is stopped when that one has ended", async () => {
    const mule = host();
    const stop = new AbortController();
    const waiting = call(mule, 'mule.wait');
    await bench.lifeline.heard(/wait began/);
    const stubborn = call(mule, 'mule.stubborn', {}, stop.signal);
    await bench.lifeline.heard(/^grandchild: here/);

    const release = call(mule, 'mule.release');
    stop.abort();

    expect(await release).toMatchObject({ text: 'released' });
    expect(await waiting).toMatchObject({ kind: 'answered', text: 'waited' });
    expect(await stubborn).toMatchObject({ reason: 'aborted' });
    await bench.lifeline.allGone();
  });

  test('that was stopped before it began starts nothing', async () => {
    expect(await call(host(), 'mule.hello', {}, AbortSignal.abort())).toMatchObject({
      reason: 'aborted',
      notStarted: true,
    });
    expect(bench.lifeline.count(/here/)).toBe(0);
  });
});

describe('a call that takes too long', () => {
  test('ends as timed out, and what ignores the cancellation is killed', async () => {
    const mule = host(400);
    await mule.list(['mule'], noSignal);

    const outcome = await call(mule, 'mule.stubborn');

    expect(outcome).toEqual({
      kind: 'broken',
      reason: 'timeout',
      message: `The call to the tool server "mule" did not end within 400 ms; ${uncertain}`,
      notStarted: false,
    });
    await bench.lifeline.allGone();
  });
});

describe('closing the host', () => {
  test('kills servers with their grandchildren, and ends calls that are under way', async () => {
    const mule = host();
    const calling = call(mule, 'mule.stubborn');
    await bench.lifeline.heard(/^grandchild: here/);

    await mule.close();

    expect(await calling).toMatchObject({ kind: 'broken', reason: 'unavailable', notStarted: false });
    await bench.lifeline.allGone();
  });

  test('stops a server in the middle of its start', async () => {
    const slow = bench.host([bench.stdio('never-initializes')]);
    const listing = slow.list(['never-initializes'], noSignal);
    await bench.lifeline.heard(/^server: here/);

    await slow.close();

    expect(await listing).toEqual([]);
    await bench.lifeline.allGone();
  });

  test('may be done in any state and again, after which nothing starts', async () => {
    const mule = host();
    await mule.close();
    await Promise.all([mule.close(), mule.close()]);

    expect(await mule.list(['mule', 'builtin.time'], noSignal)).toHaveLength(1);
    expect(await call(mule, 'mule.hello')).toMatchObject({ reason: 'unavailable', notStarted: true });
    expect(mule.health()).toEqual([{ server: 'mule', state: 'idle', tools: null, restarts: 0, lastError: null }]);
    expect(bench.lifeline.count(/here/)).toBe(0);
  });
});
