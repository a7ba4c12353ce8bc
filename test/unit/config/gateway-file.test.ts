import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  readGatewayFile,
  removeGatewayFile,
  writeGatewayFile,
  type GatewayFile,
} from '../../../src/config/gateway-file.ts';
import { readLastPort, rememberPort } from '../../../src/config/last-port.ts';
import { temporaryHome } from './temporary-home.ts';

const gateway: GatewayFile = {
  url: 'ws://127.0.0.1:7777/rpc',
  token: 'secret-token-value',
  pid: 42,
  instance_id: 'instance-1',
  epoch: 3,
  state: 'ready',
  version: '0.1.0',
  protocol: 'holdfast.v1',
};

describe('gateway.json', () => {
  test('is read as it was written, by its owner only, and nothing else is left in the folder', () => {
    const home = temporaryHome();

    writeGatewayFile(home, gateway);

    expect(readGatewayFile(home)).toEqual({ kind: 'found', gateway });
    expect(JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8'))).toEqual(gateway);
    expect(statSync(join(home, 'gateway.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(['gateway.json']);
  });

  test('that can’t be written says so by its name, and leaves nothing else in the folder', () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'gateway.json'));

    expect(() => writeGatewayFile(home, gateway)).toThrow(
      `${join(home, 'gateway.json')} can't be written: a folder is in its place`,
    );
    expect(readdirSync(home)).toEqual(['gateway.json']);
  });

  test('replaces an earlier one as a whole', () => {
    const home = temporaryHome();
    writeGatewayFile(home, { ...gateway, version: 'x'.repeat(10_000) });

    writeGatewayFile(home, { ...gateway, state: 'draining' });

    expect(readGatewayFile(home)).toEqual({ kind: 'found', gateway: { ...gateway, state: 'draining' } });
  });

  test('is removed by the instance that wrote it and by no other', () => {
    const home = temporaryHome();
    writeGatewayFile(home, gateway);

    expect(removeGatewayFile(home, 'instance-2')).toBe(false);
    expect(existsSync(join(home, 'gateway.json'))).toBe(true);
    expect(removeGatewayFile(home, 'instance-1')).toBe(true);
    expect(readGatewayFile(home)).toEqual({ kind: 'absent' });
    expect(removeGatewayFile(home, 'instance-1')).toBe(false);
  });

  test('of another version is read as far as it is understood', () => {
    const home = temporaryHome();
    writeFileSync(
      join(home, 'gateway.json'),
      JSON.stringify({ url: gateway.url, token: 't', pid: '42', state: 'resting', more: {} }),
    );

    expect(readGatewayFile(home)).toEqual({
      kind: 'found',
      gateway: {
        url: gateway.url,
        token: 't',
        pid: 0,
        instance_id: '',
        epoch: 0,
        state: 'ready',
        version: '',
        protocol: '',
      },
    });
  });

  test.each([
    ['', 'is not a JSON object'],
    ['{"url": "ws://h", "token": "secr', 'is not a JSON object'],
    ['[]', '`url` is not a WebSocket address'],
    ['{"url": "http://h", "token": "t"}', '`url` is not a WebSocket address'],
    ['{"url": "ws://h"}', '`token` is missing'],
  ])('is told to be unreadable, without its content, when it is damaged: %s', (content, reason) => {
    const home = temporaryHome();
    const file = join(home, 'gateway.json');
    writeFileSync(file, content);

    expect(readGatewayFile(home)).toEqual({ kind: 'unreadable', reason: `${file}: ${reason}` });
  });

  test('that is a folder is unreadable and no crash', () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'gateway.json'));

    expect(readGatewayFile(home)).toMatchObject({ kind: 'unreadable' });
  });
});

describe('the last port', () => {
  test('is closed to others when somebody opened it', () => {
    const home = temporaryHome();
    rememberPort(home, 7778);
    chmodSync(join(home, 'last-port'), 0o666);

    expect(readLastPort(home)).toBe(7778);
    expect(statSync(join(home, 'last-port')).mode & 0o777).toBe(0o600);
  });

  test('is remembered', () => {
    const home = temporaryHome();

    expect(readLastPort(home)).toBeNull();
    rememberPort(home, 7777);
    rememberPort(home, 7778);
    expect(readLastPort(home)).toBe(7778);
  });

  test.each(['', 'x', '0', '70000', '1.5'])('is forgotten when the file says %j', (content) => {
    const home = temporaryHome();
    writeFileSync(join(home, 'last-port'), content);

    expect(readLastPort(home)).toBeNull();
  });
});
