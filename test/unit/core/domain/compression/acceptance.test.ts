import { describe, expect, test } from 'vitest';
import { isAcceptable, whyNoSummary } from '../../../../../src/core/domain/compression/acceptance.ts';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';

const answer = { text: 'The user wants a parser.', finishReason: 'stop', calledTools: false };

describe('a text counts as a summary', () => {
  test.each([
    ['a plain sentence of a small model', 'The user wants a parser.'],
    ['text under the headings that were asked for', 'Objective\nA parser.\n\nNext steps\nTests.'],
    ['text in another language', '用户想要一个解析器。'],
    ['text that speaks of an error', 'The build failed with "error: missing semicolon"; it was fixed.'],
    ['a long text that begins as an error does', `Error: ${'the user asked about this error. '.repeat(20)}`],
    ['a text of more than 500 characters that begins as an error does', `Error: ${'x'.repeat(494)}`],
    ['JSON that says nothing of an error', '{"objective":"a parser"}'],
    ['text with white space around it', '\n  A parser.  \n'],
  ])('%s', (_what, text) => {
    expect(whyNoSummary({ ...answer, text })).toBeNull();
  });
});

describe('a text is no summary', () => {
  const empty = 'the summary is empty';
  const errorText = 'the summary is an error message';

  test.each([
    ['an empty text', { text: '' }, empty],
    ['white space', { text: ' \n\t' }, empty],
    ['one that was cut off', { finishReason: 'length' }, 'the summary did not end normally (length)'],
    ['one that was filtered', { finishReason: 'content_filter' }, 'the summary did not end normally (content_filter)'],
    ['a tool call', { calledTools: true }, 'the model answered the summary request with a tool call'],
    [
      'a tool call without text',
      { calledTools: true, text: '' },
      'the model answered the summary request with a tool call',
    ],
    ['an error in JSON', { text: '{"error": {"message": "overloaded"}}' }, errorText],
    ['an error page', { text: '<!DOCTYPE html><html><body>502</body></html>' }, errorText],
    ['an error line', { text: 'Error: upstream timed out' }, errorText],
    ['an error line of 500 characters', { text: `Error: ${'x'.repeat(493)}` }, errorText],
    ['a server’s apology', { text: 'Internal Server Error' }, errorText],
    ['a stack trace', { text: 'Traceback (most recent call last):\n  File "x.py"' }, errorText],
  ])('%s', (_what, overrides, why) => {
    expect(whyNoSummary({ ...answer, ...overrides })).toEqual(
      failureOf('compression_failed', `The transcript was not compressed: ${why}.`, { retryable: true }),
    );
  });
});

describe('a rebuilt context is worth its rotation', () => {
  test.each([
    { what: 'at exactly 10 % less', beforeTokens: 1000, afterTokens: 900, boundTokens: 1000, worth: true },
    { what: 'not at less than 10 % less', beforeTokens: 1000, afterTokens: 901, boundTokens: 1000, worth: false },
    { what: 'just under the bound', beforeTokens: 1000, afterTokens: 599, boundTokens: 600, worth: true },
    { what: 'not at the bound', beforeTokens: 1000, afterTokens: 600, boundTokens: 600, worth: false },
    { what: 'not when it is not smaller', beforeTokens: 1000, afterTokens: 1000, boundTokens: 2000, worth: false },
    { what: 'not when it has grown', beforeTokens: 1000, afterTokens: 1200, boundTokens: 2000, worth: false },
  ])('$what', ({ worth, ...sizes }) => {
    expect(isAcceptable(sizes)).toBe(worth);
  });
});
