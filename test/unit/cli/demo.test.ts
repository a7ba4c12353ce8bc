import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../../src/client/event-feed.ts';
import { SessionWatch } from '../../../src/cli/demo/session-watch.ts';
import { tellerFor } from '../../../src/cli/demo/teller.ts';
import { environmentOf } from '../../../src/config/environment.ts';
import { runCommand } from './run-command.ts';

describe('demo', () => {
  test('takes no home folder, because it kills the gateway of the one that it has', async () => {
    const { code, stdout, stderr } = await runCommand(['demo', '--home', '/somewhere']);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('a home folder of its own');
  });
});

describe('what the demo tells', () => {
  test('is coloured on a terminal only, and not where NO_COLOR is set', () => {
    expect(told({ terminal: true })).toContain('\u001b[');
    expect(told({ terminal: true, environment: { NO_COLOR: '1' } })).not.toContain('\u001b');
    expect(told({ terminal: false })).not.toContain('\u001b');
  });

  test('fits the terminal, and hangs below its name', () => {
    const written = told({ terminal: true, environment: { NO_COLOR: '1' }, columns: 40 });

    expect(Math.max(...written.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(written).toContain('   name        a b c d e f g h i j k l m\n               n o p q\n');
  });

  test('cannot move the cursor', () => {
    expect(told({ terminal: true, environment: { NO_COLOR: '1' } })).toContain('an answer \ufffd[2J');
  });
});

describe('a watch on a session', () => {
  test('finds what has arrived and what is to come, of the right admission', async () => {
    const { watch, bring } = aWatch();

    bring(delta('a1', 'one '));
    expect(await watch.until('message.delta', 'a1')).toEqual(delta('a1', 'one '));
    const later = watch.until('message.delta', 'a2');
    bring(delta('a1', 'two'));
    bring(delta('a2', 'three'));

    expect(await later).toEqual(delta('a2', 'three'));
    expect(watch.heard('a1')).toBe('one two');
  });

  test('says what never came when the connection is lost', async () => {
    const { watch, lose } = aWatch();
    const awaited = watch.until('compression.completed', 'a1');

    await sleep(1);
    lose();

    await expect(awaited).rejects.toThrow(
      'The event compression.completed did not arrive before the connection was lost',
    );
  });
});

function told(world: {
  readonly terminal: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly columns?: number;
}): string {
  let written = '';
  const stdout = {
    write: (text: string) => {
      written += text;
    },
    flushed: async () => true,
    failure: null,
    isTerminal: world.terminal,
    columns: world.terminal ? (world.columns ?? 80) : Infinity,
  };
  const teller = tellerFor({ stdout, environment: environmentOf(world.environment ?? {}) });
  teller.step('A step');
  teller.fact('name', 'a b c d e f g h i j k l m n o p q');
  teller.say('an answer \u001b[2J');
  teller.table(['A', 'B'], [['1', '2']]);
  teller.verdict(true, 'It holds.');
  teller.verdict(false, 'It does not.');
  return written;
}

function aWatch() {
  let handle: (event: SessionEvent) => void | Promise<void> = () => undefined;
  let lose = (): void => undefined;
  const watch = new SessionWatch({
    forEach: (handler) => {
      handle = handler;
      return new Promise((resolve) => {
        lose = resolve;
      });
    },
  });
  return { watch, bring: (event: SessionEvent) => void handle(event), lose: () => lose() };
}

function delta(admission_id: string, text: string): SessionEvent {
  return {
    type: 'message.delta',
    session_id: 's1',
    at: '2030-01-01T00:00:00.000Z',
    epoch: 1,
    admission_id,
    execution_generation: 1,
    payload: { step: 1, offset: 0, text },
  };
}
