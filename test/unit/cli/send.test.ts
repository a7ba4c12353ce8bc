import { describe, expect, test } from 'vitest';
import { temporaryHome } from '../config/temporary-home.ts';
import { FakeGateway, Refused, type Script } from './fake-gateway.ts';
import { documentOf, errorOf, runCommand } from './run-command.ts';
import { aMessage, aReceipt, aSnapshot, completed, lost } from './wire-builders.ts';

const accepts: Script = { 'prompt.submit': ({ input_id }) => aReceipt({ input_id, ahead: 2 }) };

describe('send', () => {
  test('prints the receipt when the gateway has given it', async () => {
    const { home } = await given(accepts);

    const { code, stdout } = await runCommand(['send', 's1', 'Hello', '--input-id', 'mine', '--home', home]);

    expect(code).toBe(0);
    expect(stdout).toBe('session    s1\nadmission  a1\ninput id   mine\nstatus     queued, 2 ahead\n');
  });

  test('prints the receipt as one JSON document', async () => {
    const { home } = await given(accepts);

    const { stdout, stderr } = await runCommand(['send', 's1', 'Hello', '--input-id', 'i', '--json', '--home', home]);

    expect(documentOf(stdout)).toEqual(aReceipt({ input_id: 'i', ahead: 2 }));
    expect(stderr).toBe('');
  });

  test('gives a prompt without an input id a new one each time', async () => {
    const { home, gateway } = await given(accepts);

    await runCommand(['send', 's1', 'Hello', '--home', home]);
    await runCommand(['send', 's1', 'Hello', '--home', home]);

    const ids = gateway.paramsOf('prompt.submit').map((params) => (params as { input_id: string }).input_id);
    expect(new Set(ids).size).toBe(2);
  });

  test('reads the prompt from stdin where it is -', async () => {
    const { home, gateway } = await given(accepts);

    await runCommand(['send', 's1', '-', '--home', home], { stdin: 'from\nstdin\n' });

    expect(gateway.paramsOf('prompt.submit')).toMatchObject([{ text: 'from\nstdin\n' }]);
  });

  test('refuses an empty prompt before it connects', async () => {
    const { home, gateway } = await given(accepts);

    const { code } = await runCommand(['send', 's1', '-', '--home', home], { stdin: ' \n' });

    expect({ code, calls: gateway.calls }).toEqual({ code: 2, calls: [] });
  });

  test('makes a session for `new`, and the same one when the same prompt is sent again', async () => {
    const { home, gateway } = await given({
      ...accepts,
      'session.create': () => ({ ...aSnapshot({ session_id: 's-new' }), created: true }),
    });

    await runCommand(['send', 'new', 'Hello', '--input-id', 'mine', '--home', home]);
    await runCommand(['send', 'new', 'Hello', '--input-id', 'mine', '--home', home]);

    const [first, second] = gateway.paramsOf('session.create');
    expect(first).toMatchObject({ request_id: 'cli:mine', source: 'cli' });
    expect(second).toEqual(first);
    expect(gateway.paramsOf('prompt.submit')).toMatchObject([{ session_id: 's-new' }, { session_id: 's-new' }]);
  });

  test('ends with 1 and the reason when the gateway refuses', async () => {
    const receipt = aReceipt();
    const { home } = await given({
      'prompt.submit': () => new Refused('admission_conflict', 'The input id belongs to another prompt.', { receipt }),
    });

    const { code, stdout, stderr } = await runCommand(['send', 's1', 'x', '--input-id', 'i', '--json', '--home', home]);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(errorOf(stderr)).toEqual({
      reason: 'admission_conflict',
      message: 'The input id belongs to another prompt.',
      retryable: false,
      receipt,
      acknowledged: false,
      outcome_unknown: false,
      input_id: 'i',
      session_id: 's1',
    });
  });

  test('names the fields that are wrong', async () => {
    const fields = [{ path: 'input_id', message: 'must not contain "~"' }];
    const { home } = await given({
      'prompt.submit': () => new Refused('invalid_params', 'Wrong parameters.', { fields }),
    });

    const { stderr } = await runCommand(['send', 's1', 'x', '--input-id', '~', '--home', home]);

    expect(stderr).toBe('Wrong parameters.\n  input_id: must not contain "~"\n');
  });
});

describe('a gateway that is killed', () => {
  test('before its receipt leaves the prompt in doubt, and the message says so and what to do', async () => {
    const { home } = await given({ 'prompt.submit': (_, gateway) => killed(gateway) });

    const { code, stdout, stderr } = await runCommand([
      'send',
      's1',
      'x',
      '--input-id',
      'mine',
      '--reconnect',
      '0',
      '--home',
      home,
    ]);

    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toContain('The gateway has not acknowledged the prompt: it may be stored, or not.');
    expect(stderr).toContain('holdfast send s1 --input-id mine');
    expect(stderr).toContain(`holdfast serve --home '${home}'`);
  });

  test('before its receipt tells a program that the outcome is unknown', async () => {
    const { home } = await given({ 'prompt.submit': (_, gateway) => killed(gateway) });

    const { stderr } = await runCommand([
      'send',
      's1',
      'x',
      '--input-id',
      'mine',
      '--reconnect',
      '0',
      '--json',
      '--home',
      home,
    ]);

    expect(errorOf(stderr)).toMatchObject({
      reason: 'connection_lost',
      acknowledged: false,
      outcome_unknown: true,
      input_id: 'mine',
      session_id: 's1',
      retryable: true,
    });
  });

  test('before the prompt was sent at all leaves no doubt', async () => {
    const { home } = await given({ 'session.create': (_, gateway) => killed(gateway) });

    const { code, stderr } = await runCommand([
      'send',
      'new',
      'x',
      '--input-id',
      'mine',
      '--reconnect',
      '0',
      '--home',
      home,
    ]);

    expect(code).toBe(69);
    expect(stderr).toContain('The prompt was not sent, so it is not stored.');
    expect(stderr).toContain('holdfast send new --input-id mine');
  });

  test('and comes back in time is sent the same prompt again, and its receipt is the result', async () => {
    const { home } = await given({ 'prompt.submit': (_, gateway) => killed(gateway) });
    let restarted: Promise<FakeGateway> | undefined;
    const onWrite = (text: string): void => {
      if (text.includes('Looking for the gateway again')) {
        restarted ??= FakeGateway.start(home, {
          'prompt.submit': ({ input_id }) => aReceipt({ input_id, duplicate: true }),
        });
      }
    };

    const { code, stdout, stderr } = await runCommand(['send', 's1', 'x', '--input-id', 'mine', '--home', home], {
      onWrite,
    });

    expect(code).toBe(0);
    expect(stderr).toContain('not acknowledged yet');
    expect(stdout).toContain('mine (known already)');
    expect((await restarted)?.paramsOf('prompt.submit')).toMatchObject([{ input_id: 'mine', text: 'x' }]);
  });

  test('after its receipt leaves an acknowledged prompt, and the message says so', async () => {
    const { home } = await given({
      ...accepts,
      'session.resume': () => aSnapshot(),
      'prompt.wait': (_, gateway) => killed(gateway),
    });

    const { code, stderr } = await runCommand(['send', 's1', 'x', '--wait', '--reconnect', '0', '--home', home]);

    expect(code).toBe(69);
    expect(stderr).toContain('The prompt is acknowledged: it stays where it is');
    expect(stderr).toContain('holdfast wait s1 a1');
  });

  test('after its receipt tells a program that the prompt is acknowledged', async () => {
    const { home } = await given({
      ...accepts,
      'session.resume': () => aSnapshot(),
      'prompt.wait': (_, gateway) => killed(gateway),
    });

    const { stdout, stderr } = await runCommand([
      'send',
      's1',
      'x',
      '--wait',
      '--reconnect',
      '0',
      '--json',
      '--home',
      home,
    ]);

    expect(stdout).toBe('');
    expect(errorOf(stderr)).toMatchObject({ reason: 'connection_lost', acknowledged: true, admission_id: 'a1' });
  });
});

describe('storage that fails', () => {
  test('with an unknown outcome is told like a lost connection', async () => {
    const { home } = await given({
      'prompt.submit': () => new Refused('storage_unavailable', 'The storage failed.', { outcome_unknown: true }),
    });

    const { code, stderr } = await runCommand(['send', 's1', 'x', '--input-id', 'mine', '--home', home]);

    expect(code).toBe(1);
    expect(stderr).toContain('it may be stored, or not');
  });
});

describe('send --wait', () => {
  test('streams the answer to stdout, remarks to stderr, and ends with 0 when it is completed', async () => {
    const { home } = await given({
      ...accepts,
      ...answering([
        ['message.delta', { step: 1, offset: 0, text: 'The ' }],
        ['message.delta', { step: 1, offset: 4, text: 'answer.' }],
      ]),
    });

    const { code, stdout, stderr } = await runCommand(['send', 's1', 'x', '--wait', '--home', home]);

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The answer.\n' });
    expect(stderr).toBe('Accepted as a1 in session s1: queued, 2 ahead.\n');
  });

  test('prints each piece when it comes', async () => {
    const written: string[] = [];
    const script = answering([['message.delta', { step: 1, offset: 0, text: 'The ' }]]);
    const { home, gateway } = await given({
      ...accepts,
      ...script,
      // The turn ends only when its first words have been printed.
      'prompt.wait': (params, self) =>
        written.includes('The ') || gateway.paramsOf('prompt.wait').length > 1_000
          ? { ...aReceipt(completed), settled: true }
          : { ...aReceipt({ ...script['prompt.wait']?.(params, self), ...running }), settled: false },
    });

    await runCommand(['send', 's1', 'x', '--wait', '--home', home], { onWrite: (text) => written.push(text) });

    expect(written.slice(-3)).toEqual(['The ', 'answer.', '\n']);
  });

  test('prints the whole answer even when its stream had a gap', async () => {
    const { home } = await given({
      ...accepts,
      ...answering([['message.delta', { step: 1, offset: 4, text: 'answer.' }]]),
    });

    const { stdout } = await runCommand(['send', 's1', 'x', '--wait', '--home', home]);

    expect(stdout).toBe('The answer.\n');
  });

  test('prints one JSON document with the answer and nothing before it', async () => {
    const { home } = await given({
      ...accepts,
      ...answering([['message.delta', { step: 1, offset: 0, text: 'The ' }]]),
    });

    const { stdout, stderr } = await runCommand([
      'send',
      's1',
      'x',
      '--input-id',
      'i1',
      '--wait',
      '--json',
      '--home',
      home,
    ]);

    expect(documentOf(stdout)).toEqual({ ...aReceipt(completed), settled: true, answer: 'The answer.' });
    expect(stderr).toBe('');
  });

  test('keeps an answer from controlling the terminal', async () => {
    const text = 'red \u001b[31m \u001b]0;title\u0007 \u009b2J done';
    const { home } = await given({
      ...accepts,
      ...answering([['message.delta', { step: 1, offset: 0, text }]], text),
    });

    const { stdout } = await runCommand(['send', 's1', 'x', '--wait', '--home', home], { terminal: true });

    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(stdout).toContain('done');
  });

  test.each([
    [
      'failed',
      { failure: { reason: 'auth', message: 'The key was refused.', retryable: false } },
      'Failed: The key was refused. (auth).',
    ],
    ['interrupted', {}, 'Interrupted.'],
    ['cancelled', {}, 'Cancelled.'],
  ] as const)('ends with 1 when the prompt is %s', async (outcome, more, words) => {
    const { home } = await given({
      ...accepts,
      'session.resume': () => aSnapshot(),
      'prompt.wait': () => ({ ...aReceipt({ status: 'terminal', outcome, ...more }), settled: true }),
    });

    const { code, stderr } = await runCommand(['send', 's1', 'x', '--wait', '--home', home]);

    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });

  test('ends with 1 and the way out when the fate of the prompt is unknown', async () => {
    const { home } = await given({
      ...accepts,
      'session.resume': () => aSnapshot(),
      'prompt.wait': () => ({ ...aReceipt(lost), settled: false }),
    });

    const { code, stderr } = await runCommand(['send', 's1', 'x', '--wait', '--home', home]);

    expect(code).toBe(1);
    expect(stderr).toContain('Fate unknown: its process was lost after a tool may have been called.');
    expect(stderr).toContain('holdfast resolve s1 a1 --discard, or --retry');
  });

  test('goes on when the gateway comes back, at another port, and prints the answer', async () => {
    const { home, gateway } = await given({
      ...accepts,
      'session.resume': () => aSnapshot(),
      'prompt.wait': (_, self) => killed(self),
    });
    const onWrite = (text: string): void => {
      if (text.includes('Looking for the gateway again')) {
        void FakeGateway.start(home, {
          ...answering([]),
          'session.subscribe': () => ({ session_id: 's1', after_seq: 1, last_seq: 1 }),
        });
      }
    };

    const { code, stdout, stderr } = await runCommand(['send', 's1', 'x', '--wait', '--home', home], { onWrite });

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The answer.\n' });
    expect(stderr).toContain('The prompt is acknowledged, and stays where it is.');
    expect(gateway.paramsOf('prompt.submit')).toHaveLength(1);
  });

  test('ends at Ctrl-C with 130, and the prompt goes on', async () => {
    let press = (): void => undefined;
    const { home } = await given({
      ...accepts,
      'session.resume': () => aSnapshot(),
      'prompt.wait': () => {
        press();
        return null;
      },
    });

    const { code, stderr } = await runCommand(['send', 's1', 'x', '--wait', '--home', home], {
      onInterruptible: (listener) => (press = listener),
    });

    expect(code).toBe(130);
    expect(stderr).toContain('The prompt goes on without you: holdfast wait s1 a1, or holdfast interrupt s1');
  });
});

const running = { status: 'started', outcome: null } as const;

async function given(script: Script): Promise<{ readonly home: string; readonly gateway: FakeGateway }> {
  const home = temporaryHome();
  return { home, gateway: await FakeGateway.start(home, script) };
}

function killed(gateway: FakeGateway): null {
  gateway.kill();
  return null;
}

/** A gateway whose turn says some things while it is waited for, and has then stored its answer. */
function answering(events: readonly (readonly [string, object])[], text = 'The answer.'): Script {
  return {
    'session.resume': () => aSnapshot({ messages: [aMessage({ text })] }),
    'session.unsubscribe': () => ({ session_id: 's1', subscribed: true }),
    'prompt.wait': (_, gateway) => {
      for (const [type, payload] of events) {
        gateway.event({
          type,
          session_id: 's1',
          at: '2030-01-01T00:00:00.000Z',
          epoch: 1,
          admission_id: 'a1',
          execution_generation: 1,
          payload,
        });
      }
      return { ...aReceipt(completed), settled: true };
    },
  };
}
