import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../../src/protocol/registry.ts';
import { temporaryHome } from '../config/temporary-home.ts';
import { FakeGateway, Refused, type Script } from './fake-gateway.ts';
import { documentOf, runCommand } from './run-command.ts';
import { aMessage, aReceipt, aSnapshot, aSummary } from './wire-builders.ts';

const status: ResultOf<'gateway.status'> = {
  state: 'ready',
  version: '0.1.0',
  protocol: 'holdfast.v1',
  instance_id: 'instance',
  epoch: 3,
  store_id: 'store',
  started_at: '2030-01-01T00:00:00.000Z',
  uptime_ms: 7_200_000,
  model: { provider: 'custom', model: 'my-model', base_url: 'http://127.0.0.1:8000/v1' },
  running: [
    {
      session_id: 's1',
      admission_id: 'a1',
      execution_generation: 1,
      step: 2,
      started_at: '2030-01-01T00:00:00.000Z',
      activity: 'compressing',
    },
  ],
  waiting_sessions: 1,
  max_concurrent_turns: 16,
  storage: 'ok',
  tools: [],
  sessions: 4,
  admissions: { queued: 5, started: 1, unknown: 1, terminal: 20 },
  breakers: [],
  held: [
    {
      session_id: 's7',
      hold: { reason: 'auth', until: null, by: 'gateway', at: '2030-01-01T00:00:00.000Z' },
      queued: 3,
    },
  ],
  unknown: [
    {
      session_id: 's9',
      admission_id: 'a9',
      input_id: 'i9',
      execution_generation: 2,
      boundary: 'tool',
      lost_at: '2030-01-01T00:00:00.000Z',
    },
  ],
};

describe('status', () => {
  test('says what runs, what waits and what needs a decision', async () => {
    const home = await given({ 'gateway.status': () => status });

    const { code, stdout } = await runCommand(['status', '--home', home]);

    expect(code).toBe(0);
    expect(stdout).toContain('state      ready, for 2 h; version 0.1.0, epoch 3');
    expect(stdout).toContain('prompts    1 running, 5 queued, 1 unknown, 20 ended');
    expect(stdout).toContain('Running (1 of 16):');
    expect(stdout).toContain('step 2, compressing');
    expect(stdout).toContain('Need a decision');
    expect(stdout).toMatch(/s9 +i9 +tool/);
    expect(stdout).toContain('Held (holdfast release SESSION):');
    expect(stdout).toMatch(/s7 +3 +auth .* it is released/);
  });

  test('is the whole answer with --json', async () => {
    const home = await given({ 'gateway.status': () => status });

    expect(documentOf((await runCommand(['status', '--json', '--home', home])).stdout)).toEqual(status);
  });

  test('may be forbidden', async () => {
    const home = await given({ 'gateway.status': () => new Refused('forbidden', 'It needs the scope admin.') });

    expect(await runCommand(['status', '--home', home])).toMatchObject({
      code: 1,
      stderr: 'It needs the scope admin.\n',
    });
  });
});

describe('sessions', () => {
  test('lists them with what each does', async () => {
    const sessions = [
      aSummary(),
      aSummary({ session_id: 's2', started: 1, queued: 3 }),
      aSummary({ session_id: 's3', unknown: 1, held: true, title: null }),
    ];
    const home = await given({ 'session.list': () => ({ sessions, next_cursor: null }) });

    const { stdout } = await runCommand(['sessions', '--home', home]);

    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(/^s1 .* idle +12 +1 +A title$/);
    expect(lines[2]).toMatch(/running, 3 queued/);
    expect(lines[3]).toMatch(/needs a decision, held .*\(no title\)$/);
  });

  test('stops at the limit and says that there are more', async () => {
    const sessions = [aSummary()];
    const home = await given({ 'session.list': () => ({ sessions, next_cursor: 'more' }) });

    const { stdout, stderr } = await runCommand(['sessions', '--limit', '2', '--home', home]);

    expect(stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(stderr).toBe('There are more: --limit 4\n');
  });

  test('says how to make the first one', async () => {
    const home = await given({ 'session.list': () => ({ sessions: [], next_cursor: null }) });

    expect((await runCommand(['sessions', '--home', home])).stdout).toContain("holdfast send new 'Hello' --wait");
  });

  test('cannot be made to write to the terminal by a title', async () => {
    const sessions = [aSummary({ title: 'x\u001b[2J\u202ey\nfake line' })];
    const home = await given({ 'session.list': () => ({ sessions, next_cursor: null }) });

    const { stdout } = await runCommand(['sessions', '--home', home], { terminal: true });

    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('show', () => {
  const snapshot = aSnapshot({
    messages: [
      aMessage({ role: 'assistant', kind: 'summary', text: 'What was.' }),
      aMessage({ role: 'user', kind: 'prompt', text: 'Question?' }),
      aMessage({ text: 'Half an ans', partial: true }),
    ],
    more_messages: true,
  });
  const script: Script = {
    'session.resume': () => snapshot,
    'prompt.list': () => ({ session_id: 's1', prompts: [{ ...aReceipt(), text: 'Next?' }], next_cursor: null }),
  };

  test('shows the numbers, the newest messages and the queue', async () => {
    const { stdout } = await runCommand(['show', 's1', '--home', await given(script)]);

    expect(stdout).toContain('context      100 of 1000 tokens (10 %); compressed at 800');
    expect(stdout).toContain('── summary of what came before · ');
    expect(stdout).toContain('── assistant (not finished) · ');
    expect(stdout).toContain('Half an ans');
    expect(stdout).toMatch(/queued, 0 ahead +Next\?/);
  });

  test('is the snapshot with --json', async () => {
    const { stdout } = await runCommand(['show', 's1', '--json', '--home', await given(script)]);

    expect(documentOf(stdout)).toEqual(snapshot);
  });
});

async function given(script: Script): Promise<string> {
  const home = temporaryHome();
  await FakeGateway.start(home, script);
  return home;
}
