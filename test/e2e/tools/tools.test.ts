import { createRequire } from 'node:module';
import { afterEach, describe, expect, test } from 'vitest';
import { calling, ownServer, ToolStage } from './tool-stage.ts';

let stage: ToolStage;

afterEach(async () => {
  await stage.end();
});

const append = (line: string) => calling(['journal__append', { line }]);

describe('a process that dies around a tool call', () => {
  interface Death {
    readonly when: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly lines: readonly string[];
    readonly open: readonly string[];
    readonly hangs: boolean;
  }

  const deaths: readonly Death[] = [
    {
      when: 'before the tool is called',
      environment: { HOLDFAST_FAILPOINTS: 'tool.before_call:kill' },
      lines: [],
      open: ['call_1_0'],
      hangs: false,
    },
    { when: 'while the tool works', environment: {}, lines: ['a'], open: ['call_1_0'], hangs: true },
    {
      when: 'after the tool has answered, before its result is stored',
      environment: { HOLDFAST_FAILPOINTS: 'tool.after_call:kill' },
      lines: ['a'],
      open: ['call_1_0'],
      hangs: false,
    },
    {
      when: 'after the result is stored',
      environment: { HOLDFAST_FAILPOINTS: 'finish_call.after_commit:kill' },
      lines: ['a'],
      open: [],
      hangs: false,
    },
  ];

  async function afterDeath({ environment, hangs }: Death) {
    stage = await ToolStage.begin();
    await stage.start(environment);
    const session = await stage.create();
    await stage.submit(session, 'a', hangs ? calling(['journal__append_and_wait', { line: 'a' }]) : append('a'));
    const follower = stage.submit(session, 'b', 'And now?').catch(() => null);
    if (hangs) {
      await follower;
      await stage.noted('a');
      await stage.daemon.kill('SIGKILL');
    }
    await stage.daemon.exited;
    await stage.start();
    await stage.submit(session, 'b', 'And now?');
    return session;
  }

  test.each(deaths)(
    '$when: the call is not made again, and followers wait until somebody discards it',
    async (death) => {
      const session = await afterDeath(death);

      const lost = await stage.receipt(session, 'a');
      expect(lost).toMatchObject({ status: 'unknown', evidence: { boundary: 'tool', open_tool_calls: death.open } });
      expect((await stage.receipt(session, 'b')).status).toBe('queued');
      await stage.client.call('prompt.resolve_unknown', {
        session_id: session,
        admission_id: lost.admission_id,
        execution_generation: lost.execution_generation,
      });

      expect((await stage.ended(session, 'b')).outcome).toBe('completed');
      expect(stage.lines).toEqual(death.lines);
      expect(stage.lastResults).toEqual([
        death.open.length === 0
          ? 'appended a'
          : '[The gateway stopped while this call was open. Its outcome is unknown.]',
      ]);
      stage.expectValidRequests();
    },
  );

  test('while the tool works, and somebody wants it done again: the new turn calls it once', async () => {
    const death = deaths[0];
    if (death === undefined) throw new Error('there are deaths');
    const session = await afterDeath(death);
    const lost = await stage.receipt(session, 'a');

    await stage.client.call('prompt.resolve_unknown', {
      session_id: session,
      admission_id: lost.admission_id,
      execution_generation: lost.execution_generation,
      action: 'retry',
    });

    expect((await stage.ended(session, 'a~1')).outcome).toBe('completed');
    expect((await stage.ended(session, 'b')).outcome).toBe('completed');
    expect(stage.lines).toEqual(['a']);
    expect(stage.rows('SELECT call_id, status FROM tool_calls ORDER BY id')).toEqual([
      { call_id: 'call_1_0', status: 'unknown' },
      { call_id: 'call_2_0', status: 'answered' },
    ]);
    stage.expectValidRequests();
  });
});

describe('a tool that goes wrong', () => {
  test('whose server is killed in the middle of a call: the model is told, and the next call gets a fresh server', async () => {
    stage = await ToolStage.begin();
    await stage.start();
    const session = await stage.create();

    const first = await stage.turn(session, 'a', calling(['journal__end_yourself', { line: 'a' }]));
    const results = stage.lastResults;
    const second = await stage.turn(session, 'b', append('b'));

    expect([first.outcome, second.outcome]).toEqual(['completed', 'completed']);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatch(
      /^\[The call came to no answer \(unavailable\): .*Whether it had an effect is unknown\.\]$/,
    );
    expect(stage.lines).toEqual(['a', 'b']);
    const { tools } = await stage.client.call<{ tools: unknown[] }>('gateway.status');
    expect(tools).toEqual([{ server: 'journal', state: 'ready', tools: 4, restarts: 1, last_error: null }]);
    stage.expectValidRequests();
  });

  test('that ignores a cancellation: the interrupt settles within five seconds, and the next turn runs', async () => {
    stage = await ToolStage.begin();
    const command = { command: process.execPath, args: [ownServer('ignores-cancel')] };
    stage.configure({ mcp_servers: { stubborn: command }, toolsets: { all: ['stubborn'] } });
    await stage.start();
    const session = await stage.create();
    await stage.submit(session, 'a', calling(['stubborn__stubborn', {}]));
    await stage.client.event(({ type }) => type === 'tool.started');
    const { execution_generation } = await stage.receipt(session, 'a');

    const began = performance.now();
    await stage.client.call('session.interrupt', { session_id: session, execution_generation });
    const ended = await stage.ended(session, 'a');

    expect(ended.outcome).toBe('interrupted');
    expect(performance.now() - began).toBeLessThan(5_000);
    expect((await stage.turn(session, 'b', 'And now?')).outcome).toBe('completed');
    stage.expectValidRequests();
    // A stop ends such a server too, which would outlive a kill of the gateway.
    expect(await stage.daemon.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  test('that answers with 5 MB: it is stored whole, and the turn goes on', async () => {
    stage = await ToolStage.begin();
    await stage.start();
    const session = await stage.create();

    const ended = await stage.turn(session, 'a', calling(['journal__large', { bytes: 5_000_000 }]));

    expect(ended.outcome).toBe('completed');
    expect(stage.rows("SELECT length(content) AS length FROM messages WHERE role = 'tool'")).toEqual([
      { length: 5_000_000 },
    ]);
    expect(stage.lastResults.map((text) => String(text).length)).toEqual([5_000_000]);
  });

  test('that answers with more than it may: the rest is cut off and marked', async () => {
    stage = await ToolStage.begin(({ journal }) => ({
      mcp_servers: {
        journal: {
          command: process.execPath,
          args: [ownServer('appends-lines')],
          env: { JOURNAL: journal },
          max_output_bytes: 10_000,
        },
      },
    }));
    await stage.start();
    const session = await stage.create();

    const ended = await stage.turn(session, 'a', calling(['journal__large', { bytes: 15_000 }]));

    expect(ended.outcome).toBe('completed');
    const [text] = stage.lastResults.map(String);
    expect(text?.length).toBeLessThan(10_200);
    expect(text).not.toMatch(/^x+$/);
    stage.expectValidRequests();
  });
});

describe('the tools of a session', () => {
  test('stay what they were when it was made, whatever becomes of the configuration', async () => {
    stage = await ToolStage.begin();
    stage.configure({ toolsets: { all: ['journal.append', 'builtin.time'] } });
    await stage.start();
    const session = await stage.create();
    await stage.turn(session, 'a', 'Hello');
    await stage.daemon.kill('SIGTERM');

    stage.configure({ toolsets: { all: ['journal.large'] } });
    await stage.start();
    await stage.turn(session, 'b', 'Hello');
    const other = await stage.create();
    await stage.turn(other, 'c', 'Hello');

    const names = stage.model.chats.map(({ tools }) =>
      (tools as { function: { name: string } }[]).map((t) => t.function.name),
    ); // as sent
    expect(names).toEqual([['journal__append', 'time'], ['journal__append', 'time'], ['journal__large']]);
  });

  test('of the reference server of the protocol’s authors work over stdio', async () => {
    stage = await ToolStage.begin();
    const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
    stage.configure({
      mcp_servers: { everything: { command: process.execPath, args: [entry, 'stdio'] } },
      toolsets: { all: ['everything'] },
    });
    await stage.start();
    const session = await stage.create();

    const ended = await stage.turn(
      session,
      'a',
      calling(
        ['everything__echo', { message: 'hello' }],
        ['everything__get-sum', { a: 2, b: 40 }],
        ['everything__echo', {}],
      ),
    );

    expect(ended.outcome).toBe('completed');
    expect(stage.lastResults.slice(0, 2)).toEqual([
      expect.stringContaining('hello') as unknown,
      expect.stringContaining('42') as unknown,
    ]);
    expect(stage.rows('SELECT status FROM tool_calls ORDER BY id')).toEqual(
      ['answered', 'answered', 'failed'].map((status) => ({ status })),
    );
    stage.expectValidRequests();
  });

  test('whose server can not be started are not offered: the turn runs, and the status says why', async () => {
    stage = await ToolStage.begin();
    stage.configure({
      mcp_servers: { missing: { command: '/no/such/program', startup_timeout_seconds: 5 } },
      toolsets: { all: ['missing', 'builtin.time'] },
    });
    await stage.start();
    const session = await stage.create();

    const ended = await stage.turn(session, 'a', 'Hello');

    expect(ended.outcome).toBe('completed');
    const { tools } = await stage.client.call<{ tools: { server: string; state: string; last_error: string }[] }>(
      'gateway.status',
    );
    expect(tools).toMatchObject([{ server: 'missing', state: expect.stringMatching(/backing_off|failed/) as unknown }]);
    expect(tools[0]?.last_error).toContain('ENOENT');
  });
});
