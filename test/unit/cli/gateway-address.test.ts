import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeGatewayFile } from '../../../src/config/gateway-file.ts';
import { temporaryHome } from '../config/temporary-home.ts';
import { FakeGateway, token } from './fake-gateway.ts';
import { errorOf, runCommand } from './run-command.ts';

const lists = { 'session.list': () => ({ sessions: [], next_cursor: null }) };

describe('a gateway that cannot be reached', () => {
  test('because none was started is told with the way to start it, and ends with 69', async () => {
    const home = temporaryHome();

    const { code, stdout, stderr } = await runCommand(['sessions', '--home', home]);

    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toBe(
      `No gateway runs for the home folder ${home}.\nStart it with: holdfast serve --home '${home}'\n`,
    );
  });

  test('is told to a program as JSON on stderr', async () => {
    const { code, stdout, stderr } = await runCommand(['sessions', '--json', '--home', temporaryHome()]);

    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(errorOf(stderr)).toMatchObject({ reason: 'no_gateway', retryable: true });
  });

  test('because its process was killed is told so (A16)', async () => {
    const home = temporaryHome();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    announce(home, { url: 'ws://127.0.0.1:9/rpc', pid });

    const { code, stderr } = await runCommand(['sessions', '--home', home]);

    expect(code).toBe(69);
    expect(stderr).toContain(`its process ${pid} doesn't run any more`);
  });

  test('although its process lives is told with its address', async () => {
    const home = temporaryHome();
    announce(home, { url: 'ws://127.0.0.1:9/rpc', pid: process.pid });

    const { code, stderr } = await runCommand(['sessions', '--home', home]);

    expect(code).toBe(69);
    expect(stderr).toContain("doesn't answer at ws://127.0.0.1:9/rpc");
  });

  test('because its file is damaged is told with the file', async () => {
    const home = temporaryHome();
    writeFileSync(join(home, 'gateway.json'), '{');

    const { code, stderr } = await runCommand(['sessions', '--home', home]);

    expect(code).toBe(69);
    expect(stderr).toContain(join(home, 'gateway.json'));
  });

  test('because another gateway has its address now is not asked in its place', async () => {
    const home = temporaryHome();
    const { url, calls } = await FakeGateway.start(temporaryHome(), lists);
    announce(home, { url, pid: process.pid });

    const { code, stderr } = await runCommand(['sessions', '--home', home, '--json']);

    expect({ code, calls }).toEqual({ code: 69, calls: [] });
    expect(errorOf(stderr)).toMatchObject({ reason: 'no_gateway' });
    expect(stderr).toContain('Another gateway has this address now');
  });

  test('because its process was killed and another one refuses its token is told so', async () => {
    const home = temporaryHome();
    const { url } = await FakeGateway.start(temporaryHome(), lists);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    announce(home, { url, pid, token: 'the-token-of-a-gateway-that-was-killed' });

    const { code, stderr } = await runCommand(['sessions', '--home', home]);

    expect(code).toBe(69);
    expect(stderr).toContain(`its process ${pid} doesn't run any more`);
  });

  test('because something else answers there is told so', async () => {
    const home = temporaryHome();
    const gateway = await FakeGateway.start(home, lists);

    const { code } = await runCommand(['sessions', '--url', gateway.url.replace('/rpc', '/other'), '--token', token]);

    expect(code).not.toBe(0);
  });
});

describe('a backup', () => {
  const nobody = 'ws://127.0.0.1:9/rpc';

  test('of a gateway that was named by its address is never one of the home folder of this machine', async () => {
    const home = temporaryHome();
    const file = join(temporaryHome(), 'backup.db');
    const environment = { HOLDFAST_HOME: home, HOLDFAST_URL: nobody, HOLDFAST_TOKEN: 'x' };

    const { code, stderr } = await runCommand(['backup', file], { environment });

    expect(code).toBe(69);
    expect(stderr).toBe(`No gateway answers at ${nobody} (connect ECONNREFUSED 127.0.0.1:9).\n`);
  });

  test('is made here where the gateway of the home folder was killed, whoever has its address now', async () => {
    const home = temporaryHome();
    const { url, calls } = await FakeGateway.start(temporaryHome(), lists);
    announce(home, { url, pid: process.pid });

    const { code, stderr } = await runCommand(['backup', join(temporaryHome(), 'backup.db'), '--home', home]);

    expect({ code, calls }).toEqual({ code: 74, calls: [] });
    expect(stderr).toBe(`There is no store in ${home}.\n`);
  }, 30_000); // it loads the whole gateway
});

describe('a gateway', () => {
  test('is found by the home folder of the environment', async () => {
    const home = temporaryHome();
    await FakeGateway.start(home, lists);

    expect(await runCommand(['sessions'], { environment: { HOLDFAST_HOME: home } })).toMatchObject({ code: 0 });
  });

  test('is found by an address and a token, from options or the environment', async () => {
    const { url } = await FakeGateway.start(temporaryHome(), lists);
    const environment = { HOLDFAST_HOME: temporaryHome(), HOLDFAST_URL: url, HOLDFAST_TOKEN: token };

    expect(await runCommand(['sessions', '--url', url, '--token', token])).toMatchObject({ code: 0 });
    expect(await runCommand(['sessions'], { environment })).toMatchObject({ code: 0 });
  });

  test('of a home folder that was named wins over the address of the environment', async () => {
    const home = temporaryHome();
    await FakeGateway.start(home, lists);
    const environment = { HOLDFAST_URL: 'ws://127.0.0.1:9/rpc', HOLDFAST_TOKEN: 'x' };

    expect(await runCommand(['sessions', '--home', home], { environment })).toMatchObject({ code: 0 });
  });

  test.each([
    [['--url', 'ws://127.0.0.1:9/rpc'], 'needs its token'],
    [['--url', 'http://127.0.0.1:9', '--token', 'x'], 'looks like ws://'],
    [['--url', 'ws://127.0.0.1:9/rpc', '--token', 'bad\ntoken'], 'such as a line end'],
  ])('is not looked for with half an address: %j', async (options, words) => {
    const { code, stderr } = await runCommand(['sessions', ...options]);

    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test('that refuses the token ends with 1, and the token is not repeated', async () => {
    const { url } = await FakeGateway.start(temporaryHome(), lists);

    const { code, stderr } = await runCommand(['sessions', '--url', url, '--token', 'wrong-token-1234', '--json']);

    expect(code).toBe(1);
    expect(errorOf(stderr)).toMatchObject({ reason: 'unauthorized' });
    expect(stderr).not.toContain('wrong-token-1234');
  });
});

function announce(home: string, file: { readonly url: string; readonly pid: number; readonly token?: string }): void {
  const rest = { instance_id: 'i', epoch: 1, state: 'ready', version: '1', protocol: 'holdfast.v1' } as const;
  writeGatewayFile(home, { token, ...file, ...rest });
}
