import { describe, expect, it } from 'vitest';
import { ToolCallSlots } from '../../../../src/adapters/outbound/model/tool-call-slots.ts';

interface Delta {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: unknown };
}

function callsFrom(deltas: readonly Delta[]): readonly (readonly [string, string, string])[] | null {
  const slots = new ToolCallSlots();
  for (const delta of deltas) slots.take(delta);
  let made = 0;
  const calls = slots.calls(new Set(), () => `made-${String((made += 1))}`);
  return calls === null ? null : calls.map((call) => [call.id, call.name, call.arguments] as const);
}

const call = (index: number | undefined, id: string | undefined, name: string | undefined, args?: unknown): Delta => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});

describe('the pieces of tool calls', () => {
  it.each<[string, readonly Delta[], readonly (readonly [string, string, string])[]]>([
    [
      'in the standard form, interleaved',
      [
        call(0, 'a', 'f', ''),
        call(1, 'b', 'g', ''),
        call(0, undefined, undefined, '{"x"'),
        call(1, undefined, undefined, '{}'),
        call(0, undefined, undefined, ':1}'),
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'all with index 0 and ids of their own',
      [call(0, 'a', 'f', '{"q":1}'), call(0, 'b', 'f', '{"q":2}')],
      [
        ['a', 'f', '{"q":1}'],
        ['b', 'f', '{"q":2}'],
      ],
    ],
    [
      'of one name, the first without arguments, by their ids',
      [call(0, 'a', 'f', ''), call(0, 'b', 'f', '{}')],
      [
        ['a', 'f', ''],
        ['b', 'f', '{}'],
      ],
    ],
    [
      'all with index 0 and no ids',
      [call(0, undefined, 'f', '{"q":1}'), call(0, undefined, 'f', '{"q":2}'), call(0, undefined, 'g', '{}')],
      [
        ['made-1', 'f', '{"q":1}'],
        ['made-2', 'f', '{"q":2}'],
        ['made-3', 'g', '{}'],
      ],
    ],
    [
      'without index and id, by their names',
      [call(undefined, undefined, 'get_weather', ''), call(undefined, undefined, 'get_time', '{}')],
      [
        ['made-1', 'get_weather', ''],
        ['made-2', 'get_time', '{}'],
      ],
    ],
    [
      'mixed with and without index',
      [
        call(0, 'a', 'f', '{"x":'),
        call(undefined, undefined, undefined, '1}'),
        call(1, 'b', 'g', '{'),
        call(undefined, undefined, undefined, '}'),
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'first without and then with an index',
      [call(undefined, 'a', 'f', '{"x":'), call(0, undefined, undefined, '1}')],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'with the id and the name repeated in each',
      [call(0, 'a', 'f', '{"x"'), call(0, 'a', 'f', ':1'), call(0, 'a', 'f', '}')],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'with a new id in each',
      [call(0, 'r1', 'f', '{"x"'), call(0, 'r2', undefined, ':1'), call(0, 'r3', undefined, '}')],
      [['r1', 'f', '{"x":1}']],
    ],
    [
      'with one id for all calls',
      [call(0, 'call_0', 'f', '{}'), call(1, 'call_0', 'g', '{}')],
      [
        ['call_0', 'f', '{}'],
        ['made-1', 'g', '{}'],
      ],
    ],
    [
      'with an id that comes late',
      [call(0, undefined, 'f', '{"x"'), call(0, 'a', undefined, ':1}')],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'with a name that comes late',
      [call(0, 'a', undefined, '{"x"'), call(0, undefined, 'f', ':1}')],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'with indexes that begin at 1 and leave gaps',
      [call(1, 'a', 'f', '{}'), call(5, 'b', 'g', '{}')],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'with empty ids and names in the later ones',
      [call(0, 'a', 'f', '{"x"'), call(0, '', '', ':1}')],
      [['a', 'f', '{"x":1}']],
    ],
    ['with arguments as an object', [call(0, 'a', 'f', { x: 1 })], [['a', 'f', '{"x":1}']]],
  ])('%s are put together rightly', (_, deltas, expected) => {
    expect(callsFrom(deltas)).toEqual(expected);
  });

  it('that never get a name make no calls', () => {
    expect(callsFrom([call(0, 'a', undefined, '{}')])).toBeNull();
  });

  it('that are no objects are left out', () => {
    const slots = new ToolCallSlots();
    for (const delta of [null, 'x', 5, []]) slots.take(delta);

    expect(slots.isEmpty).toBe(true);
  });

  it('never take an id that the transcript has', () => {
    const slots = new ToolCallSlots();
    slots.take(call(0, 'call_1', 'f', '{}'));

    expect(slots.calls(new Set(['call_1']), () => 'fresh')?.[0]?.id).toBe('fresh');
  });
});
