import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noFailpoints, type Failpoints } from '../../../src/core/ports/failpoints.ts';
import { EnvFailpoints, FailpointError, makeFailpoints } from '../../../src/adapters/outbound/system/env-failpoints.ts';
import { parseFailpoints } from '../../../src/config/failpoint-rules.ts';

describe('a failpoint', () => {
  test('is passed at once where nothing is armed', () => {
    expect(armed('a:throw').hit('b')).toBeUndefined();
    expect(makeFailpoints([])).toBe(noFailpoints);
  });

  test('throws at its n-th hit only', () => {
    const failpoints = armed('a:throw@2');

    void failpoints.hit('a');
    expect(() => failpoints.hit('a')).toThrow(FailpointError);
    void failpoints.hit('a');
  });

  test('fits names by a wildcard, and a dot is only a dot', () => {
    const failpoints = armed('*.after_commit:throw');

    expect(() => failpoints.hit('submit.after_commit')).toThrow();
    expect(failpoints.hit('submit.before_commit')).toBeUndefined();
    expect(armed('a.b:throw').hit('axb')).toBeUndefined();
  });

  test('delays before what is armed after it at the same place', async () => {
    const failpoints = armed('a:delay=20,a:throw');
    const startedMs = performance.now();

    await expect(failpoints.hit('a')).rejects.toThrow(FailpointError);

    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(19);
  });

  test('kills within the call, before anything else runs', () => {
    const killed: string[] = [];
    const failpoints = new EnvFailpoints([{ pattern: 'a', action: { kind: 'kill' }, onHit: null }], {
      kill: () => killed.push('now'),
    });

    void failpoints.hit('a');

    expect(killed).toEqual(['now']);
  });

  test('kills the process with SIGKILL, and not one line more is run', { timeout: 30_000 }, () => {
    const adapter = join(import.meta.dirname, '../../../src/adapters/outbound/system/env-failpoints.ts');
    const program = `
      const { makeFailpoints } = await import(${JSON.stringify(adapter)});
      const failpoints = makeFailpoints([{ pattern: 'a', action: { kind: 'kill' }, onHit: null }]);
      process.on('exit', () => console.log('exit handler'));
      console.log('before');
      failpoints.hit('a');
      console.log('after');
    `;

    const { signal, stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      encoding: 'utf8',
    });

    expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: 'before\n' });
  });
});

function armed(text: string): Failpoints {
  const parsed = parseFailpoints(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.problem);
  return makeFailpoints(parsed.rules);
}
