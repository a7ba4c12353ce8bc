import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { RecordingLogger } from '../../../../src/adapters/outbound/memory/recording-logger.ts';
import { backOffMs, hasGivenUp } from '../../../../src/adapters/outbound/tools/back-off.ts';
import { readToolPage } from '../../../../src/adapters/outbound/tools/listed-tools.ts';
import { makeSecretMask } from '../../../../src/adapters/outbound/tools/secret-mask.ts';
import { ServerLog } from '../../../../src/adapters/outbound/tools/server-log.ts';
import { idOfOverlongAnswer } from '../../../../src/adapters/outbound/tools/substitute-answers.ts';

describe('the back-off', () => {
  test('doubles from a second, and after six failures gives up for five minutes at a time', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7].map(backOffMs)).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 300_000, 300_000]);
    expect([5, 6].map(hasGivenUp)).toEqual([false, true]);
  });
});

describe('the mask for secrets', () => {
  test('covers each value, and of a header with a scheme the part after it as well', () => {
    const mask = makeSecretMask(['tr0ub4dor', 'Bearer abc123']);

    expect(mask('tr0ub4dor Bearer abc123, abc123 alone')).toBe('[secret] [secret], [secret] alone');
  });

  test('covers the longer of two values where one contains the other', () => {
    expect(makeSecretMask(['abcd', 'abcdefgh'])('abcdefgh abcd')).toBe('[secret] [secret]');
  });

  test('leaves out values that are too short to be secrets', () => {
    expect(makeSecretMask(['', '1', 'on'])('1 is on')).toBe('1 is on');
  });
});

describe('a page of tools', () => {
  test('has what is no tool left out, and what is missing filled in', () => {
    const tools = [
      { name: 'a', inputSchema: { properties: {} } },
      { name: '' },
      { description: 'no name' },
      null,
      3,
      { name: 'b', description: 7 },
    ];

    expect(readToolPage({ tools, nextCursor: 'more' })).toEqual({
      tools: [
        { name: 'a', description: '', parameters: { type: 'object', properties: {} } },
        { name: 'b', description: '', parameters: { type: 'object' } },
      ],
      nextCursor: 'more',
    });
  });

  test('has schemas of objects only, whatever a server says that they are', () => {
    const tools = [{ name: 'a', inputSchema: { type: ['object', 'null'], properties: {} } }];

    expect(readToolPage({ tools }).tools[0]?.parameters).toEqual({ type: 'object', properties: {} });
  });

  test('is empty when it is not what it should be', () => {
    for (const page of [null, 'tools', [], { tools: 'none', nextCursor: '' }]) {
      expect(readToolPage(page)).toEqual({ tools: [], nextCursor: null });
    }
  });
});

describe('a line that is too long', () => {
  test('tells which request it answers, if it begins or ends with the id', () => {
    expect(idOfOverlongAnswer({ head: '{"jsonrpc":"2.0","id":7,"result":{"cont', tail: 'xxx"}]}}' })).toBe(7);
    expect(idOfOverlongAnswer({ head: '{ "id" : 7, "result":{"cont', tail: 'xxx' })).toBe(7);
    expect(idOfOverlongAnswer({ head: '{"result":{"content":[', tail: '"id":3}]},"jsonrpc":"2.0","id":7}' })).toBe(7);
  });

  test('tells nothing if it is a request of the server, or if only its content looks like an id', () => {
    const none = [
      { head: '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"', tail: '}}' },
      { head: '{"method":"sampling/createMessage","params":{', tail: '},"jsonrpc":"2.0","id":7}' },
      { head: '{"result":{"content":[', tail: ',"id":7}]},"jsonrpc":"2.0","id":"x"}' },
      { head: '{"result":{"id":7,', tail: '"id":7}}' },
      { head: 'xxxx', tail: 'xxxx' },
    ];
    expect(none.map(idOfOverlongAnswer)).toEqual(none.map(() => null));
  });
});

describe("a server's log", () => {
  test('holds so many lines in ten seconds, and says afterwards how many it left out', async () => {
    const [clock, logger] = [new FakeClock(), new RecordingLogger()];
    const log = new ServerLog('files', logger, clock, (text) => text);

    for (let line = 0; line < 250; line += 1) log.stderr(`line ${line}`);
    expect(logger.lines).toHaveLength(100);
    await clock.advance(10_000);
    log.stderr('later');

    expect(logger.lines.slice(100)).toEqual([
      { level: 'debug', message: 'tool server said more than is logged', fields: { server: 'files', lines: 150 } },
      { level: 'debug', message: 'tool server wrote to stderr', fields: { server: 'files', text: 'later' } },
    ]);
  });

  test('cuts no secret in half', () => {
    const logger = new RecordingLogger();
    const log = new ServerLog('files', logger, new FakeClock(), makeSecretMask(['tr0ub4dor']));

    log.stderr(`${'x'.repeat(995)}tr0ub4dor`);

    expect(logger.lines[0]?.fields['text']).toBe(`${'x'.repeat(995)}[secr`);
  });
});
