import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/config/exit-codes.ts';
import { temporaryHome } from '../config/temporary-home.ts';
import { documentOf, errorOf, runCommand } from './run-command.ts';

describe('a command line that is not understood', () => {
  test.each([
    [['sned'], 'Did you mean send?'],
    [['send'], "missing required argument 'session'"],
    [['queue', 's', '--al'], 'Did you mean --all?'],
    [['sessions', '--limit', 'many'], 'Not a whole number'],
    [['wait', 's', 'a', '--timeout', '-1'], 'Not a number of seconds'],
    [['status', 'now'], 'too many arguments'],
    [['sessions', '--home', ''], 'It is empty.'],
    [['serve', '--home='], 'It is empty.'],
    [['chat', '--help'], "unknown command 'chat'"],
    [['--help', 'chat'], "unknown command 'chat'"],
    [['sned', '--help'], 'Did you mean send?'],
    [['config', 'chek', '--help'], 'Did you mean check?'],
    [['config', 'chek'], 'Did you mean check?'],
  ])('ends with 2 and says what is wrong: %j', async (argv, words) => {
    const { code, stdout, stderr } = await runCommand(argv);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  test('is told to a program as JSON', async () => {
    const { code, stderr } = await runCommand(['queue', '--json']);

    expect(code).toBe(2);
    expect(errorOf(stderr)).toMatchObject({ reason: 'usage' });
  });

  test('may be empty: then the help is shown, as an error', async () => {
    const { code, stdout, stderr } = await runCommand([]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: holdfast');
  });
});

describe('--help', () => {
  const commands = [
    'serve',
    'status',
    'send',
    'queue',
    'approvals',
    'respond',
    'resolve',
    'interrupt',
    'hold',
    'release',
    'steer',
    'sessions',
    'show',
    'lineage',
    'search',
    'export',
    'wait',
    'demo',
  ];

  test.each([...commands.map((name) => [name]), ['config', 'check']])(
    'of %s %s goes to stdout with examples and ends with 0',
    async (...words) => {
      const argv = words.filter((word) => typeof word === 'string');

      const { code, stdout, stderr } = await runCommand([...argv, '--help']);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Examples:\n  $ holdfast ${argv.join(' ')}`);
      expect(stdout).toContain('--json');
    },
  );

  test('names every command and every exit code', async () => {
    const { stdout } = await runCommand(['--help']);

    for (const name of [...commands, 'config']) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const code of Object.values(exitCodes)) expect(stdout).toMatch(new RegExp(`^  ${String(code)} +[a-z]`, 'm'));
  });

  test('of a command that has commands lists them', async () => {
    const { code, stdout } = await runCommand(['config', '--help']);

    expect(code).toBe(0);
    expect(stdout).toContain('check');
  });

  test('of the demo offers no home, which it would refuse', async () => {
    const { stdout } = await runCommand(['demo', '--help']);

    expect(stdout).not.toContain('--home');
    expect(await runCommand(['demo', '--home', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('takes no --home') as string,
    });
  });

  test('has a version beside it', async () => {
    expect((await runCommand(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('config check', () => {
  test('ends with 0 and names the model when all is well', async () => {
    const home = temporaryHome();
    writeFileSync(
      join(home, 'config.yaml'),
      'model: { provider: custom, default: m, base_url: http://127.0.0.1:1/v1 }',
    );

    const { code, stdout } = await runCommand(['config', 'check', '--home', home]);

    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${join(home, 'config.yaml')} is fine.\nModel: m (custom at http://127.0.0.1:1/v1)\n`,
    });
  });

  test('creates nothing', async () => {
    const home = temporaryHome();

    await runCommand(['config', 'check', '--home', home]);

    expect(readdirSync(home)).toEqual([]);
  });

  test('ends with 78 and lists every problem with its place', async () => {
    const home = temporaryHome();
    const file = join(home, 'config.yaml');
    writeFileSync(file, 'gatway: {}\ncompression:\n  threshold: 7\n');

    const { code, stdout, stderr } = await runCommand(['config', 'check', '--home', home]);

    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toBe(
      `2 problems:\n${file}:1:1: gatway: is not a known key; did you mean \`gateway\`?\n${file}:3:14: compression.threshold: must be at most 1\n`,
    );
  });

  test('gives a program the problems one by one, and never a key', async () => {
    const home = temporaryHome();
    writeFileSync(join(home, 'config.yaml'), 'gatway: {}');

    const { code, stderr } = await runCommand(['config', 'check', '--json', '--home', home]);

    expect(code).toBe(78);
    expect(errorOf(stderr)).toMatchObject({
      reason: 'invalid_configuration',
      problems: [{ file: join(home, 'config.yaml'), line: 1, column: 1, key: 'gatway' }],
    });
  });

  test('says with --json whether a key is there and not what it is', async () => {
    const home = temporaryHome();
    writeFileSync(
      join(home, 'config.yaml'),
      'providers: { local: { kind: openai-compatible, base_url: "http://h", api_key_env: NO_SUCH_KEY, headers: { X: secret-header } } }',
    );

    const { stdout } = await runCommand(['config', 'check', '--json', '--home', home]);

    expect(documentOf(stdout)).toMatchObject({
      ok: true,
      endpoints: [{ provider: 'local', api_key_env: 'NO_SUCH_KEY', api_key_set: false }, { provider: 'demo' }],
    });
    expect(stdout).not.toContain('secret-header');
  });
});
