import { describe, expect, test } from 'vitest';
import { parseFailpoints } from '../../../src/config/failpoint-rules.ts';

describe('HOLDFAST_FAILPOINTS', () => {
  test('is a list of places, actions and hits', () => {
    expect(parseFailpoints('submit.after_commit:kill@2, model.*:delay=50,recovery.before:throw,')).toEqual({
      kind: 'parsed',
      rules: [
        { pattern: 'submit.after_commit', action: { kind: 'kill' }, onHit: 2 },
        { pattern: 'model.*', action: { kind: 'delay', ms: 50 }, onHit: null },
        { pattern: 'recovery.before', action: { kind: 'throw' }, onHit: null },
      ],
    });
  });

  test.each([
    'submit',
    'submit:',
    ':kill',
    'submit:explode',
    'submit:kill@0',
    'submit:delay',
    'submit:delay=x',
    'a b:kill',
  ])('is refused with the part that is wrong: %s', (text) => {
    expect(parseFailpoints(`fine:kill,${text}`)).toEqual({
      kind: 'invalid',
      problem: `\`${text}\` is not name:action[@n] with action kill, throw or delay=MS`,
    });
  });

  test.each(['', ' ', ','])('arms nothing when it says nothing: %j', (text) => {
    expect(parseFailpoints(text)).toEqual({ kind: 'parsed', rules: [] });
  });
});
