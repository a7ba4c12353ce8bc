import { describe, expect, test } from 'vitest';
import { maxTitleCharacters, titleFrom, titlePrompt } from '../../../../../src/core/domain/session/title.ts';
import { aMessage } from '../../../../support/builders.ts';

const asIs = (text: string): string => text;

describe('a title', () => {
  test.each([
    ['Planning a trip', 'Planning a trip'],
    ['  Planning  a\ttrip.\n', 'Planning a trip'],
    ['"Planning a trip"', 'Planning a trip'],
    ['„Eine Reise“', 'Eine Reise'],
    ['Title: **Planning a trip**', 'Planning a trip'],
    ['# `Planning` a trip', '`Planning` a trip'],
    ['<think>They want\na trip.</think>\n\nPlanning a trip', 'Planning a trip'],
    ['Plan\u001b[2Jning \u202ea trip', 'Plan[2Jning a trip'],
    ['旅行の計画。', '旅行の計画'],
    ['What next...', 'What next...'],
    ['"A" and "B"', '"A" and "B"'],
    ['A \ud83d trip 👩‍👩‍👧', 'A trip 👩‍👩‍👧'],
  ])('of the answer %j is %j', (answer, title) => {
    expect(titleFrom(answer)).toBe(title);
  });

  test.each([
    '',
    ' \n ',
    '"".',
    '...',
    '👍',
    'Here is a title:\nPlanning a trip',
    '<b>Planning</b> a trip',
    '```Planning```',
    '<think>They want a trip.</think>',
    'word '.repeat(100),
  ])('is not made of %j', (answer) => {
    expect(titleFrom(answer)).toBeNull();
  });

  test.each(['a word and '.repeat(20), 'x'.repeat(200), '🦓'.repeat(100)])('that is long is cut: %j', (answer) => {
    const title = titleFrom(answer) ?? '🦓'.repeat(3);

    expect(title.length).toBeLessThanOrEqual(maxTitleCharacters);
    expect(title).not.toMatch(/\p{Cs}/u);
  });
});

describe('a request for a title', () => {
  test('shows the prompt and the last answer as data, cut and without secrets', () => {
    const messages = [
      aMessage({ text: `the password is hunter2! ${'x'.repeat(10_000)}` }),
      aMessage({ role: 'assistant', kind: 'answer', text: 'I look.' }),
      aMessage({ role: 'tool', kind: 'tool', text: 'a tool’s output', toolCallId: 'call-1' }),
      aMessage({ role: 'assistant', kind: 'answer', text: 'Here it is: hunter2!' }),
    ];

    const prompt = titlePrompt(messages, (text) => text.replaceAll('hunter2!', '…'));

    expect(prompt?.user).toContain('the password is …');
    expect(prompt?.user).toContain('Here it is: …');
    expect(prompt?.user).not.toMatch(/hunter2|I look|a tool’s/);
    expect(prompt?.user.length).toBeLessThan(3_000);
  });

  test('is not made where nobody has said a word', () => {
    expect(titlePrompt([], asIs)).toBeNull();
    expect(titlePrompt([aMessage({ text: ' ' })], asIs)).toBeNull();
  });
});
