import * as fc from 'fast-check';
import { metaOf } from '../../../../../src/core/domain/transcript/message.ts';
import type { MessageMeta } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage } from '../../../../support/builders.ts';

/** A message before it has a place in a transcript. */
export type Loose = Omit<MessageMeta, 'id' | 'originId'>;

/** Mostly small messages, some that fill a tenth of a window, and one now and then that fills several. */
const tokens = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 200 }) },
  { weight: 3, arbitrary: fc.integer({ min: 500, max: 3000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 8000, max: 40_000 }) },
);

const loose = (overrides: Partial<MessageMeta>): Loose => metaOf(aMessage(overrides));

const prompt = tokens.map((size) => [loose({ kind: 'prompt', tokens: size })]);
const answer = tokens.map((size) => [loose({ role: 'assistant', kind: 'answer', tokens: size })]);
const note = fc.constant([loose({ role: 'assistant', kind: 'note', tokens: 15 })]);

/** A message that asks for one to four calls at once, with their results in any order. */
const batch = fc
  .array(fc.record({ size: tokens, comesBack: fc.nat(100) }), { minLength: 1, maxLength: 4 })
  .map((calls) => calls.map((call, index) => ({ ...call, id: `call-${String(index)}` })))
  .map((calls) => [
    { ...loose({ role: 'assistant', kind: 'answer', tokens: 20 }), toolCallIds: calls.map(({ id }) => id) },
    ...calls
      .toSorted((a, b) => a.comesBack - b.comesBack)
      .map(({ id, size }) => loose({ role: 'tool', kind: 'tool', tokens: size, toolCallId: id })),
  ]);

/** One turn: a prompt, some steps, and an answer, a note, or nothing yet. */
export const aTurn: fc.Arbitrary<readonly Loose[]> = fc
  .tuple(prompt, fc.array(batch, { maxLength: 4 }), fc.oneof(answer, answer, note))
  .map(([first, steps, last]) => [...first, ...steps.flat(), ...last]);

const aTurnThatRuns: fc.Arbitrary<readonly Loose[]> = fc
  .tuple(prompt, fc.array(batch, { maxLength: 6 }))
  .map(([first, steps]) => [...first, ...steps.flat()]);

const summary = tokens.map((size) => [loose({ kind: 'summary', tokens: size, admissionId: null })]);

/** A transcript as sessions have it: turns, perhaps after an earlier compression, perhaps with one that still runs. */
export const aTranscript: fc.Arbitrary<readonly MessageMeta[]> = fc
  .tuple(
    fc.array(aTurn, { maxLength: 3 }),
    fc.option(summary, { nil: [] }),
    fc.array(aTurn, { maxLength: 8 }),
    fc.option(aTurnThatRuns, { nil: [] }),
  )
  .map(([head, earlier, turns, running]) => placed([...head.flat(), ...earlier, ...turns.flat(), ...running]));

/** Gives each message its place, and each call an id of its own: `call-1-of-7` is the second call of message 7. */
export function placed(messages: readonly Loose[]): readonly MessageMeta[] {
  let asking = 0;
  return messages.map((message, index) => {
    const id = index + 1;
    if (message.toolCallIds.length > 0) asking = id;
    const own = (call: string): string => `${call}-of-${String(asking)}`;
    return {
      ...message,
      id,
      originId: id,
      toolCallIds: message.toolCallIds.map(own),
      toolCallId: message.toolCallId === null ? null : own(message.toolCallId),
    };
  });
}

/** A message that can be placed elsewhere. */
export function loosened({ id, originId, ...message }: MessageMeta): Loose {
  const bare = (call: string): string => call.replace(/-of-\d+$/, '');
  return {
    ...message,
    toolCallIds: message.toolCallIds.map(bare),
    toolCallId: message.toolCallId === null ? null : bare(message.toolCallId),
  };
}
