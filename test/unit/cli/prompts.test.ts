import type { WireOpenApproval } from '../../../src/protocol/approval.ts';
import { describe, expect, test } from 'vitest';
import { temporaryHome } from '../config/temporary-home.ts';
import { FakeGateway, Refused, type Script } from './fake-gateway.ts';
import { documentOf, errorOf, runCommand } from './run-command.ts';
import { aMessage, aReceipt, aSnapshot, aSummary, completed, lost } from './wire-builders.ts';

describe('wait', () => {
  const ended: Script = {
    'session.resume': () => aSnapshot({ messages: [aMessage()] }),
    'prompt.receipt': (params) =>
      params.admission_id === 'mine'
        ? new Refused('not_found', 'No such admission.', { what: 'admission' })
        : aReceipt(),
    'prompt.wait': () => ({ ...aReceipt(completed), settled: true }),
  };

  test('prints the answer of an admission', async () => {
    const { home } = await given(ended);

    expect(await runCommand(['wait', 's1', 'a1', '--home', home])).toEqual({
      code: 0,
      stdout: 'The answer.\n',
      stderr: '',
    });
  });

  test('takes the input id as well', async () => {
    const { home, gateway } = await given(ended);

    expect(await runCommand(['wait', 's1', 'mine', '--home', home])).toMatchObject({ code: 0 });
    expect(gateway.paramsOf('prompt.receipt')).toEqual([
      { session_id: 's1', admission_id: 'mine' },
      { session_id: 's1', input_id: 'mine' },
    ]);
  });

  test('gives up after its timeout with 1, and says that the prompt goes on', async () => {
    const { home } = await given({
      ...ended,
      'session.resume': () => aSnapshot(),
      'prompt.wait': () => ({ ...aReceipt({ status: 'started' }), settled: false }),
    });

    const { code, stderr } = await runCommand(['wait', 's1', 'a1', '--timeout', '0', '--home', home]);

    expect(code).toBe(1);
    expect(stderr).toBe('Running.\nThe time is up; the prompt goes on: holdfast wait s1 a1\n');
  });

  test('says where a session is not known', async () => {
    const { home } = await given({
      'prompt.receipt': () => new Refused('not_found', 'No such session.', { what: 'session' }),
    });

    expect(await runCommand(['wait', 'nowhere', 'a1', '--home', home])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No such session.\n',
    });
  });
});

const anApproval: WireOpenApproval = {
  approval_id: 'p1',
  session_id: 's1',
  admission_id: 'a1',
  execution_generation: 1,
  message_id: 2,
  call_id: 'call-1',
  name: 'mail__send',
  arguments: '{"to":"all"}',
  options: ['approve', 'deny'],
  requested_at: '2030-01-01T00:00:00.000Z',
  expires_at: '2030-01-01T00:10:00.000Z',
};

describe('approvals', () => {
  test('lists the calls that wait, of all sessions', async () => {
    const { home, gateway } = await given({ 'approval.list': () => ({ approvals: [anApproval], more: false }) });

    const { code, stdout } = await runCommand(['approvals', '--home', home]);

    expect(code).toBe(0);
    expect(stdout).toContain('mail__send {"to":"all"}');
    expect(gateway.paramsOf('approval.list')).toEqual([{ limit: 200 }]);
  });

  test('says when none waits', async () => {
    const { home } = await given({ 'approval.list': () => ({ approvals: [], more: false }) });

    expect(await runCommand(['approvals', 's1', '--home', home])).toMatchObject({
      stdout: 'No call waits for an approval.\n',
    });
  });
});

describe('respond', () => {
  test('gives the answer that it was told to give', async () => {
    const { home, gateway } = await given({
      'approval.respond': () => ({
        session_id: 's1',
        approval_id: 'p1',
        call_id: 'call-1',
        name: 'mail__send',
        resolution: { decision: 'denied', by: 'local', at: '2030-01-01T00:00:00.000Z' },
        duplicate: false,
      }),
    });

    expect(await runCommand(['respond', 's1', 'p1', '--deny', '--home', home])).toMatchObject({
      code: 0,
      stdout: 'mail__send was denied by local: it does not run, and the turn goes on without it.\n',
    });
    expect(gateway.paramsOf('approval.respond')).toEqual([{ session_id: 's1', approval_id: 'p1', answer: 'deny' }]);
  });

  test('without an answer gives none', async () => {
    const { home, gateway } = await given({});

    expect(await runCommand(['respond', 's1', 'p1', '--home', home])).toMatchObject({
      code: 2,
      stderr: 'Say --approve or --deny.\n',
    });
    expect(gateway.paramsOf('approval.respond')).toEqual([]);
  });
});

describe('queue', () => {
  const prompts = [
    { ...aReceipt(lost), text: 'Send the mail\nto everybody' },
    {
      ...aReceipt({ admission_id: 'a2', input_id: 'i2', sequence: 2, ahead: 1, blocked_by: ['unknown_execution'] }),
      text: 'x'.repeat(200),
    },
  ];

  test('lists the prompts in their order with what each waits for, and fits a terminal', async () => {
    const { home } = await given({ 'prompt.list': () => ({ session_id: 's1', prompts, next_cursor: null }) });

    const { code, stdout } = await runCommand(['queue', 's1', '--home', home], { terminal: true });

    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain('fate unknown: its process was lost after a tool may have been called');
    expect(lines[2]).toContain('queued, 1 ahead; waits until the lost turn before it is resolved');
  });

  test('reads page after page', async () => {
    const { home, gateway } = await given({
      'prompt.list': ({ cursor }) =>
        cursor === undefined
          ? { session_id: 's1', prompts: prompts.slice(0, 1), next_cursor: 'next' }
          : { session_id: 's1', prompts: prompts.slice(1), next_cursor: null },
    });

    const { stdout } = await runCommand(['queue', 's1', '--all', '--json', '--home', home]);

    expect(documentOf(stdout)).toEqual({ session_id: 's1', prompts, approvals: [] });
    expect(gateway.paramsOf('prompt.list')).toMatchObject([{ include: 'all' }, { include: 'all', cursor: 'next' }]);
  });

  test('shows the calls that wait for an approval while a turn runs', async () => {
    const { home, gateway } = await given({
      'prompt.list': () => ({
        session_id: 's1',
        prompts: [{ ...aReceipt({ status: 'started' }), text: 'Send the mail' }],
        next_cursor: null,
      }),
      'approval.list': () => ({ approvals: [anApproval], more: false }),
    });

    const { stdout } = await runCommand(['queue', 's1', '--home', home]);

    expect(stdout).toContain('mail__send {"to":"all"}');
    expect(gateway.paramsOf('approval.list')).toEqual([{ session_id: 's1', limit: 200 }]);
  });

  test('says when it is empty', async () => {
    const { home } = await given({ 'prompt.list': () => ({ session_id: 's1', prompts: [], next_cursor: null }) });

    expect(await runCommand(['queue', 's1', '--home', home])).toMatchObject({
      stdout: 'Nothing waits and nothing runs.\n',
    });
  });
});

describe('resolve', () => {
  const oneLost: Script = {
    'prompt.list': () => ({ session_id: 's1', prompts: [{ ...aReceipt(lost), text: 'x' }], next_cursor: null }),
    'prompt.receipt': () => aReceipt(lost),
    'prompt.resolve_unknown': ({ action }) => ({
      ...aReceipt({ status: 'terminal', outcome: 'interrupted', execution_generation: 7 }),
      retry: action === 'retry' ? aReceipt({ admission_id: 'a9', input_id: 'i1~1' }) : null,
    }),
  };

  test('without a decision shows what is known and changes nothing', async () => {
    const { home, gateway } = await given(oneLost);

    const { code, stderr } = await runCommand(['resolve', 's1', '--home', home]);

    expect(code).toBe(2);
    expect(stderr).toContain(
      'Its turn began at 2030-01-01T00:00:01.000Z and was lost at 2030-01-01T00:00:09.000Z, in step 2.',
    );
    expect(stderr).toContain('Tool calls without a result: send_mail');
    expect(stderr).toContain('holdfast resolve s1 --discard');
    expect(gateway.paramsOf('prompt.resolve_unknown')).toEqual([]);
  });

  test.each([
    ['--discard', 'discard'],
    ['--retry', 'retry'],
  ])('%s carries the generation of the turn that was looked at', async (flag, action) => {
    const { home, gateway } = await given(oneLost);

    expect(await runCommand(['resolve', 's1', flag, '--home', home])).toMatchObject({ code: 0 });
    expect(gateway.paramsOf('prompt.resolve_unknown')).toEqual([
      { session_id: 's1', admission_id: 'a1', execution_generation: 7, action },
    ]);
  });

  test('--retry shows the new admission', async () => {
    const { home } = await given(oneLost);

    const { stdout } = await runCommand(['resolve', 's1', 'a1', '--retry', '--home', home]);

    expect(stdout).toBe('a1  interrupted\na9  queued, 0 ahead (input id i1~1)\n');
  });

  test('cannot be both', async () => {
    const { home, gateway } = await given(oneLost);

    expect(await runCommand(['resolve', 's1', '--retry', '--discard', '--home', home])).toMatchObject({ code: 2 });
    expect(gateway.calls).toEqual([]);
  });

  test('ends with 1 when nothing is lost', async () => {
    const { home } = await given({ 'prompt.list': () => ({ session_id: 's1', prompts: [], next_cursor: null }) });

    const { code, stderr } = await runCommand(['resolve', 's1', '--discard', '--json', '--home', home]);

    expect(code).toBe(1);
    expect(errorOf(stderr)).toMatchObject({ reason: 'not_unknown' });
  });
});

describe('a hold', () => {
  const script: Script = {
    'session.hold': ({ session_id }) => ({ session_id, revision: 3 }),
    'session.release': ({ session_id }) => ({ session_id, revision: 4 }),
    'session.get': ({ session_id }) => ({
      ...aSummary({ session_id }),
      hold: null,
      blocked_by: session_id === 'lost' ? ['unknown_execution'] : [],
      context: aSnapshot().context,
    }),
  };

  test('is set with a reason, and the answer says how it ends', async () => {
    const { home, gateway } = await given(script);

    const { code, stdout } = await runCommand(['hold', 's1', '--reason', 'a deployment', '--home', home]);

    expect(code).toBe(0);
    expect(stdout).toContain('holdfast release s1');
    expect(gateway.paramsOf('session.hold')).toEqual([{ session_id: 's1', reason: 'a deployment' }]);
  });

  test('is ended by release', async () => {
    const { home, gateway } = await given(script);

    const ran = await runCommand(['release', 's1', '--home', home]);

    expect(ran).toEqual({ code: 0, stdout: "The session isn't held any more, and its queue goes on.\n", stderr: '' });
    expect(gateway.paramsOf('session.release')).toEqual([{ session_id: 's1' }]);
    expect((await runCommand(['release', 'lost', '--home', home])).stdout).toContain('holdfast resolve lost');
    const asJson = await runCommand(['release', 's1', '--json', '--home', home]);
    expect(documentOf(asJson.stdout)).toEqual({ session_id: 's1', revision: 4 });
  });

  test('is named where a prompt waits for it, with the command that ends it', async () => {
    const { home } = await given({
      'prompt.submit': () => aReceipt({ blocked_by: ['session_held'] }),
    });

    expect((await runCommand(['send', 's1', 'x', '--home', home])).stdout).toContain('holdfast release');
  });
});

describe('interrupt', () => {
  test('stops the turn that runs, by its generation', async () => {
    const running = {
      admission_id: 'a1',
      input_id: 'i1',
      execution_generation: 5,
      step: 1,
      boundary: 'model',
      started_at: '2030-01-01T00:00:00.000Z',
      stop_requested: false,
    } as const;
    const { home, gateway } = await given({
      'session.resume': () => aSnapshot({ running }),
      'session.interrupt': (params) => ({
        session_id: 's1',
        admission_id: 'a1',
        execution_generation: params.execution_generation,
      }),
    });

    expect(await runCommand(['interrupt', 's1', '--home', home])).toMatchObject({ code: 0 });
    expect(gateway.paramsOf('session.interrupt')).toEqual([{ session_id: 's1', execution_generation: 5 }]);
  });

  test('ends with 1 when no turn runs', async () => {
    const { home } = await given({ 'session.resume': () => aSnapshot() });

    expect(await runCommand(['interrupt', 's1', '--home', home])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No turn of this session runs.\n',
    });
  });
});

async function given(script: Script): Promise<{ readonly home: string; readonly gateway: FakeGateway }> {
  const home = temporaryHome();
  return { home, gateway: await FakeGateway.start(home, script) };
}
