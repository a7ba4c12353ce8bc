import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { commonReasons, errors } from '../../../src/protocol/errors.ts';
import { connectionEvents, durableEvents, liveEvents } from '../../../src/protocol/events.ts';
import { methods } from '../../../src/protocol/registry.ts';

describe('the methods', () => {
  test('have a name each', () => {
    const names = methods.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
  });

  test.each(methods.map((method) => [method.name, method] as const))(
    '%s takes an object and nothing unknown',
    (_, method) => {
      const params: z.ZodType = method.params;

      expect(params).toBeInstanceOf(z.ZodObject);
      expect(params.safeParse({ nonsense: 1 }).error?.issues).toContainEqual(
        expect.objectContaining({ code: 'unrecognized_keys', keys: ['nonsense'] }),
      );
    },
  );

  test.each(methods.map((method) => [method.name, method] as const))(
    '%s is described and repeats no common error',
    (_, method) => {
      expect(method.summary).toMatch(/\.$/);
      expect(method.errors.filter((reason) => (commonReasons as readonly string[]).includes(reason))).toEqual([]);
    },
  );

  test('that change something are decided in the order of their arrival', () => {
    const others = methods.filter(({ scope, order }) => scope === 'write' && order !== 'arrival');
    // It takes as long as a summary, and nothing that is sent behind it is to wait for that.
    expect(others.map(({ name }) => name)).toEqual(['session.compress']);
  });
});

describe('the errors', () => {
  test('have a code each', () => {
    const codes = Object.values(errors).map(({ code }) => code);

    expect(new Set(codes).size).toBe(codes.length);
  });

  test('keep out of the range that JSON-RPC reserves, but for its own five', () => {
    const reserved = Object.values(errors).filter(({ code }) => code <= -32000 && code >= -32768);

    expect(reserved.map(({ code }) => code)).toEqual([-32700, -32600, -32601, -32602, -32603]);
  });
});

describe('the events', () => {
  test('have a type each, and a description', () => {
    const events: z.ZodObject[] = [...durableEvents, ...liveEvents, ...connectionEvents];
    const types = events.map((event) => (event.shape['type'] as z.ZodLiteral<string>).value);

    expect(new Set(types).size).toBe(types.length);
    expect(events.filter(({ description }) => description === undefined)).toEqual([]);
  });
});
