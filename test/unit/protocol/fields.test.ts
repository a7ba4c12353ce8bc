import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fieldProblems } from '../../../src/protocol/field-problems.ts';
import { inputId, knownInputId } from '../../../src/protocol/fields.ts';
import { promptPart } from '../../../src/protocol/message.ts';
import { promptSubmit } from '../../../src/protocol/prompt.ts';

describe('an input id', () => {
  test.each(['a', 'x'.repeat(200), 'ä 😀 with blanks', 'a/b:c', '0'])('may be %j', (id) => {
    expect(inputId.safeParse(id).success).toBe(true);
  });

  test.each(['', 'x'.repeat(201), 'a~1', 'a\u0000', 'a\nb', 'a\u007f', 'a\ud800', 1, null])('must not be %j', (id) => {
    expect(inputId.safeParse(id).success).toBe(false);
  });

  test('of a retry may be asked for and not be chosen', () => {
    for (const known of ['a~1', `${'x'.repeat(200)}~1`, `${'x'.repeat(200)}~1000000`])
      expect(knownInputId.safeParse(known).success).toBe(true);
  });
});

describe('a part of a prompt', () => {
  test.each([
    { type: 'text', text: 'Hello' },
    { type: 'image', media_type: 'image/png', data: 'aGVsbG8=' },
    { type: 'file', media_type: 'application/vnd.api+json', data: 'aGk=', name: 'a.json' },
  ])('may be %j', (part) => {
    expect(promptPart.safeParse(part).success).toBe(true);
  });

  test.each([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: '' },
    { type: 'image', media_type: 'png', data: 'aGk=' },
    { type: 'image', media_type: 'image/png', data: 'aGk' },
    { type: 'image', media_type: 'image/png', data: 'a=k=' },
    { type: 'image', media_type: 'image/png', data: 'aGk=', url: 'https://example.org' },
  ])('must not be %j', (part) => {
    expect(promptPart.safeParse(part).success).toBe(false);
  });

  test('of four megabytes is checked in no time', () => {
    const data = 'A'.repeat(4 * 1024 * 1024);
    const startedAt = performance.now();

    expect(promptPart.safeParse({ type: 'image', media_type: 'image/png', data }).success).toBe(true);

    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

describe('what is wrong with parameters', () => {
  const problemsOf = (params: unknown): unknown => {
    const { error } = promptSubmit.params.safeParse(params);
    return error === undefined ? [] : fieldProblems(promptSubmit.params, error);
  };
  const right = { session_id: 's', input_id: 'a', text: 'Hello' };

  test.each([
    ['sesion_id', 'session_id'],
    ['inputId', 'input_id'],
    ['TEXT', 'text'],
    ['part', 'parts'],
    ['tetx', 'text'],
    ['completely_different', undefined],
  ])('an unknown key %s suggests %s', (key, nearest) => {
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;

    expect(problemsOf({ ...right, [key]: 1 })).toEqual([{ path: key, message: `unknown key${hint}` }]);
  });

  test('a key inside a list is named by its path and its nearest', () => {
    expect(
      problemsOf({ session_id: 's', input_id: 'a', parts: [{ type: 'image', media_typ: 'image/png', data: 'aGk=' }] }),
    ).toEqual(
      expect.arrayContaining([{ path: 'parts.0.media_typ', message: 'unknown key; did you mean media_type?' }]),
    );
  });

  test('is told for ten places at most', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]));

    expect(problemsOf({ ...right, ...many })).toHaveLength(10);
  });

  test('is told of the whole when it is no object', () => {
    expect(problemsOf([])).toEqual([{ path: '', message: expect.any(String) as string }]);
  });

  test('follows optional, nullable and defaulted objects', () => {
    const schema = z.strictObject({ a: z.strictObject({ name: z.string() }).nullable().optional() });
    const { error } = schema.safeParse({ a: { name: 'x', nam: 'y' } });

    expect(error && fieldProblems(schema, error)).toEqual([
      { path: 'a.nam', message: 'unknown key; did you mean name?' },
    ]);
  });
});
