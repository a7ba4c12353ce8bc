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
    ['text that begins with the word error', 'Error handling was added to the parser: all tests pass.'],
    [
      'text that begins with a server’s phrase and goes on',
      '502 Bad Gateway answers of the proxy were traced to its buffer.',
    ],
    ['text that begins with a number', '500 lines of the parser were written, as asked.'],
    ['text that tells of a failed request', 'Request failed tests were added; the user wants 429 retried.'],
    ['JSON with a status', '{"objective":"a parser","status":"done","details":"none"}'],
    ['text that speaks of thinking', 'The template emits </think> without <think>; it is to be stripped.'],
    ['text behind a sign', '✅ The parser is done.'],
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
    ['marks that show nothing', { text: '\u200b\u200b\ufeff' }, empty],
    ['dots', { text: '...' }, empty],
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
    ['a status line', { text: '502 Bad Gateway' }, errorText],
    ['a status line with a page', { text: 'HTTP/1.1 503 Service Unavailable\nserver: nginx' }, errorText],
    ['a phrase of a server', { text: 'Too many requests, please slow down.' }, errorText],
    ['an error with a code', { text: 'Error code: 429 - rate limit' }, errorText],
    ['an error with a status', { text: 'HTTP error 500: try again' }, errorText],
    ['an error of an API', { text: 'API Error: 529 overloaded' }, errorText],
    ['a detail in JSON', { text: '{"detail":"Rate limit exceeded"}' }, errorText],
    ['a message in JSON', { text: '[{"message":"no such model","code":404}]' }, errorText],
    ['an error behind a sign', { text: '⚠️ Error: upstream timed out' }, errorText],
    ['an error in bold', { text: '**Error** This model is unavailable' }, errorText],
    ['an apology', { text: 'Sorry, an error occurred while processing your request.' }, errorText],
    ['a fault that is told', { text: 'Something went wrong. Try again later.' }, errorText],
    ['a refusal', { text: "I'm sorry, but I can't help with that." }, errorText],
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
