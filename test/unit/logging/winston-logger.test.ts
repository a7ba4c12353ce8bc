import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Secrets } from '../../../src/adapters/outbound/logging/secrets.ts';
import { WinstonLogger, type WinstonLoggerOptions } from '../../../src/adapters/outbound/logging/winston-logger.ts';

describe('a JSON line', () => {
  test('has the time, the level, the message and the fields', async () => {
    const { logger, json } = aLogger();

    logger.info('turn settled', { sessionId: 's1', outcome: 'completed' });

    expect(await json()).toEqual([
      {
        at: '2030-01-01T12:34:56.789Z',
        level: 'info',
        message: 'turn settled',
        sessionId: 's1',
        outcome: 'completed',
      },
    ]);
  });

  test('keeps a field that is called like one of its own keys, and the message stays the message', async () => {
    const { logger, json } = aLogger();

    logger.warn('the message', { message: 'a field', level: 'high', at: 'home' });

    expect(await json()).toEqual([
      {
        at: '2030-01-01T12:34:56.789Z',
        level: 'warn',
        message: 'the message',
        message_: 'a field',
        level_: 'high',
        at_: 'home',
      },
    ]);
  });

  test('is one line, whatever is in it', async () => {
    const { logger, text } = aLogger();

    logger.info('two\nlines', { more: 'a\r\nb\u2028c' });

    expect((await text()).trimEnd().split('\n')).toHaveLength(1);
  });

  test('does not read % in a message as a format', async () => {
    const { logger, json } = aLogger();

    logger.info('100 %s done %d', { splat: [1] });

    expect(await json()).toMatchObject([{ message: '100 %s done %d', splat: [1] }]);
  });

  test('shows what was logged, also when its object changes right after', async () => {
    const { logger, json } = aLogger();
    const fields = { state: { queued: 1 } };

    logger.info('state', fields);
    fields.state.queued = 2;

    expect(await json()).toMatchObject([{ state: { queued: 1 } }]);
  });
});

describe('an error in the fields', () => {
  test('is printed with its stack, its own properties and every cause', async () => {
    const { logger, json } = aLogger();
    const root = Object.assign(new TypeError('terminated'), { code: 'ECONNRESET' });
    const error = new Error('request failed', { cause: new Error('fetch failed', { cause: root }) });

    logger.error('turn failed', { error, deep: [{ error }] });

    const expected = {
      name: 'Error',
      message: 'request failed',
      stack: expect.stringContaining('winston-logger.test.ts') as string,
      cause: {
        message: 'fetch failed',
        cause: { name: 'TypeError', message: 'terminated', code: 'ECONNRESET' },
      },
    };
    expect(await json()).toMatchObject([{ error: expected, deep: [{ error: expected }] }]);
  });

  test('may gather others', async () => {
    const { logger, json } = aLogger();

    logger.error('failed', { error: new AggregateError([new Error('one'), new Error('two')], 'all failed') });

    expect(await json()).toMatchObject([{ error: { errors: [{ message: 'one' }, { message: 'two' }] } }]);
  });
});

describe('a level', () => {
  test.each([
    ['error', ['error']],
    ['warn', ['warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['debug', ['debug', 'info', 'warn', 'error']],
  ] as const)('%s lets through what is as important or more', async (level, expected) => {
    const { logger, json } = aLogger({ level });

    logger.debug('x');
    logger.info('x');
    logger.warn('x');
    logger.error('x');

    expect((await json()).map((line) => line['level'])).toEqual(expected);
  });

  test('that is off costs no look at the fields', async () => {
    const { logger, text } = aLogger({ level: 'info' });
    const trap = {
      get field(): never {
        throw new Error('read');
      },
    };

    logger.debug('x', trap);

    expect(await text()).toBe('');
  });
});

describe('a line for people', () => {
  test('has no colours where nobody wants them', async () => {
    const { logger, text } = aLogger({ format: 'pretty' });

    logger.info('listening', { url: 'ws://127.0.0.1:7777/rpc', note: 'two words', limits: { batch: 50 } });

    expect(await text()).toBe(
      '12:34:56.789 INFO  listening url=ws://127.0.0.1:7777/rpc note="two words" limits={"batch":50}\n',
    );
  });

  test('colours the level', async () => {
    const { logger, text } = aLogger({ format: 'pretty', colour: true });

    logger.error('no');

    expect(await text()).toContain('\u001b[31mERROR\u001b[0m no');
  });

  test('prints an error below itself with its causes', async () => {
    const { logger, text } = aLogger({ format: 'pretty' });

    logger.error('failed', { error: new Error('outer', { cause: new Error('inner') }), turn: 1 });

    const lines = (await text()).split('\n');
    expect(lines[0]).toBe('12:34:56.789 ERROR failed turn=1');
    expect(lines[1]).toBe('  error: Error: outer');
    expect(lines).toContainEqual('  caused by: Error: inner');
  });

  test('cannot be used to write to the terminal', async () => {
    const { logger, text } = aLogger({ format: 'pretty' });

    logger.info('title \u001b]0;owned\u0007', { name: '\u001b[2Jx\nfake line', '\u001bk': 1 });

    const written = await text();
    expect(written).not.toMatch(/[^\P{Cc}\n]/u);
    expect(written.trimEnd().split('\n')).toHaveLength(1);
  });

  test('is what a terminal gets by itself', async () => {
    expect(await formatOn({ isTTY: true })).toBe('pretty');
    expect(await formatOn({ isTTY: false })).toBe('json');
    expect(await formatOn({})).toBe('json');
  });
});

describe('flush', () => {
  test('waits for a slow stream, and the logger goes on afterwards', async () => {
    const written: string[] = [];
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        setTimeout(() => {
          written.push(chunk.toString());
          done();
        }, 5);
      },
    });
    const { logger } = aLogger({ stream: slow });

    for (let line = 0; line < 20; line += 1) logger.info(`line ${line}`);
    await logger.flush();
    expect(written.filter((chunk) => chunk !== '')).toHaveLength(20);

    logger.info('one more');
    await Promise.all([logger.flush(), logger.flush()]);
    expect(written.join('')).toContain('one more');
  });

  test('keeps every line that was logged just before process.exit', { timeout: 30_000 }, () => {
    const folder = join(import.meta.dirname, '../../../src/adapters/outbound/logging');
    const program = `
      const { WinstonLogger } = await import(${JSON.stringify(join(folder, 'winston-logger.ts'))});
      const { Secrets } = await import(${JSON.stringify(join(folder, 'secrets.ts'))});
      const now = () => new Date().toISOString();
      const options = { level: 'info', format: 'auto', colour: false, secrets: new Secrets(), stream: process.stderr, now };
      const logger = new WinstonLogger(options);
      for (let line = 0; line < 5000; line += 1) logger.info('line ' + line, { padding: 'x'.repeat(200) });
      await logger.flush();
      process.exit(70);
    `;

    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });

    const lines = stderr.trimEnd().split('\n');
    expect(status).toBe(70);
    expect(lines).toHaveLength(5_000);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ message: 'line 4999' });
  });

  test('does not wait for ever for a pipe that nobody reads from', async () => {
    const { logger } = aLogger({ stream: new Writable({ write: () => undefined }) });
    logger.info('stuck');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });

    const flushed = logger.flush();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    await vi.advanceTimersByTimeAsync(2_000);

    await flushed;
  });

  test('does not wait for a stream that is gone, and a line after its end harms nobody', async () => {
    const stream = new PassThrough();
    const { logger } = aLogger({ stream });
    stream.destroy(new Error('EPIPE'));

    logger.info('to nobody');
    await logger.flush();
    logger.error('to nobody again');
    await logger.flush();
  });
});

describe('a secret', () => {
  const secret = 's3cr3t-value-of-the-token';

  test('that is registered is found in every text: messages, fields, keys, errors', async () => {
    const secrets = new Secrets();
    secrets.add(secret);
    const { logger, text } = aLogger({ secrets });
    const error = new Error(`401 for ${secret}`, { cause: { body: `{"key":"${secret}"}` } });

    logger.info(`using ${secret}!`, {
      note: `x${secret}y`,
      [secret]: 1,
      list: [[secret]],
      error,
      url: new URL(`http://h/${secret}`),
    });

    expect(await text()).not.toContain(secret);
  });

  test('is found also as it looks in a URL or in JSON', async () => {
    const secrets = new Secrets();
    secrets.add('pass/word "x"');
    const { logger, text } = aLogger({ secrets });

    logger.info('x', { url: 'http://h/?q=pass%2Fword%20%22x%22', body: JSON.stringify({ a: 'pass/word "x"' }) });

    expect(await text()).not.toMatch(/pass/);
  });

  test('that contains another one is hidden as a whole', () => {
    const secrets = new Secrets();
    secrets.add('abcdef', 'abcdef-and-more');

    expect(secrets.mask('key abcdef-and-more')).toBe('key [redacted]');
  });

  test('that is too short to be told from a word is left alone', () => {
    const secrets = new Secrets();
    secrets.add('none', '');

    expect(secrets.mask('none of this')).toBe('none of this');
  });

  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'x-api-key',
    'api_key',
    'apiKey',
    'OPENAI_API_KEY',
    'token',
    'accessToken',
    'password',
    'client_secret',
    'Cookie',
    'set-cookie',
    'privateKey',
  ])('is hidden by the name of its key at any depth: %s', async (key) => {
    const { logger, text } = aLogger();

    logger.info('x', { [key]: secret, a: { b: [{ c: { [key]: [secret] } }] }, map: new Map([[key, secret]]) });

    expect(await text()).not.toContain(secret);
  });

  test.each([{ max_tokens: 5 }, { tokens: 7 }, { api_key_env: 'NAME' }, { token: null }, { hasPassword: true }])(
    'is not what only sounds like one: %j',
    async (fields) => {
      const { logger, json } = aLogger();

      logger.info('x', fields);

      expect(await json()).toMatchObject([fields]);
    },
  );

  test.each([
    `GET /rpc?token=${secret} HTTP/1.1`,
    `authorization: Bearer ${secret}`,
    `sec-websocket-protocol: holdfast.v1, holdfast.token.${secret}`,
    `https://user:${secret}@host/path`,
  ])('is hidden by its shape in text from elsewhere: %s', async (line) => {
    const { logger, text } = aLogger();

    logger.info(line, { line });

    expect(await text()).not.toContain(secret);
  });

  test.each(['a.'.repeat(500_000), 'x'.repeat(1_000_000), 'a://b:'.repeat(200_000), 'Bearer '.repeat(100_000)])(
    'is looked for in reasonable time, whatever the text is',
    (long) => {
      const startedMs = performance.now();

      new Secrets().mask(long);

      expect(performance.now() - startedMs).toBeLessThan(2_000);
    },
  );

  test('is hidden in raw headers, where names and values take turns', async () => {
    const { logger, text } = aLogger();

    logger.info('x', { rawHeaders: ['Host', 'h', 'X-Api-Key', secret] });

    expect(await text()).not.toContain(secret);
  });
});

describe('a strange value', () => {
  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic['self'] = cyclic;
  const deep = (depth: number): unknown => (depth === 0 ? 'bottom' : { below: deep(depth - 1) });

  test.each([
    ['a cycle', cyclic, { a: 1, self: '[circular]' }],
    ['a bigint', 10n, '10'],
    ['not a number', Number.NaN, 'NaN'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a broken date', new Date(Number.NaN), 'Invalid Date'],
    ['bytes', Buffer.from('secret'), '[6 bytes]'],
    ['a set', new Set([1]), [1]],
    ['a function', () => 1, '[function]'],
    ['a long list', Array.from({ length: 150 }, () => 1), [...Array.from({ length: 100 }, () => 1), '[50 more]']],
    [
      'a getter that throws',
      {
        get x(): never {
          throw new Error('no');
        },
      },
      { x: '[unreadable]' },
    ],
    ['a revoked proxy', revokedProxy(), '[unreadable]'],
  ])('is printed as well as it can be: %s', async (_, value, expected) => {
    const { logger, json } = aLogger();

    logger.info('x', { value });

    expect(await json()).toMatchObject([{ value: expected }]);
  });

  test('has an end: deep objects and long texts are cut', async () => {
    const { logger, text } = aLogger();

    logger.info('x', { deep: deep(1_000), long: 'x'.repeat(1_000_000) });

    const written = await text();
    expect(written).toContain('[deeper]');
    expect(written.length).toBeLessThan(20_000);
  });
});

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

async function formatOn(terminal: { readonly isTTY?: boolean }): Promise<'json' | 'pretty'> {
  const { logger, text } = aLogger({ format: 'auto', stream: Object.assign(new PassThrough(), terminal) });
  logger.info('x');
  return (await text()).startsWith('{') ? 'json' : 'pretty';
}

function aLogger(options: Partial<WinstonLoggerOptions> = {}) {
  const stream = (options.stream ?? new PassThrough({ highWaterMark: 1_000_000 })) as PassThrough; // only tests of a text read it again
  const logger = new WinstonLogger({
    level: 'debug',
    format: 'json',
    colour: false,
    secrets: new Secrets(),
    now: () => '2030-01-01T12:34:56.789Z',
    ...options,
    stream,
  });
  const text = async (): Promise<string> => {
    await logger.flush();
    return (stream.read() as Buffer | null)?.toString('utf8') ?? '';
  };
  const json = async (): Promise<readonly Record<string, unknown>[]> =>
    (await text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>); // each line is an object
  return { logger, text, json };
}
