/*
 * The prompts of the tests that keep books. A prompt begins with a tag that no other prompt has, so that whoever sees a
 * request knows which prompt it is for, and says what the model is to do with it: `#s1.p3 long 3000`.
 */

export interface PromptText {
  /** `<session>.<prompt>`. */
  readonly tag: string;
  readonly wish: Wish;
  /** Characters of the answer to `long`, milliseconds between two pieces of the answer to `slow`. */
  readonly amount: number;
}

/**
 * What the model does: `plain`: a short answer. `long`: a long one. `slow`: one in pieces. `tool`: it asks for a tool
 * first. `append`: it asks for the one that appends the tag to the journal. `park`: it waits until the test lets it answer.
 * `overflow`: it refuses until the transcript is compressed.
 */
export type Wish = (typeof wishes)[number];
const wishes = ['plain', 'long', 'slow', 'tool', 'parktool', 'append', 'park', 'overflow'] as const;

/** `parktool` asks for a tool when the test lets it answer. */
export function asksForTool(wish: Wish): boolean {
  return wish === 'tool' || wish === 'parktool' || wish === 'append';
}

export function promptText(tag: string, wish: Wish = 'plain', amount = 0, padding = ''): string {
  return `#${tag} ${wish} ${String(amount)}${padding === '' ? '' : ` ${padding}`}`;
}

/** Null for a text that is none of these. */
export function readPromptText(text: string): PromptText | null {
  const [, tag, wish, amount] = /^#([\w.-]+) (\w+) (\d+)/.exec(text) ?? [];
  const known = wishes.find((name) => name === wish);
  return tag === undefined || known === undefined ? null : { tag, wish: known, amount: Number(amount) };
}

/** The answer that the model gives in the end, and that the store must hold word for word. */
export function expectedAnswer({ tag, wish, amount }: PromptText): string {
  if (wish === 'slow') return Array.from({ length: 20 }, (_, index) => `${tag}/${String(index)}`).join(' ');
  const answer = `answer to ${tag}`;
  return wish === 'long' ? answer.padEnd(amount, ` word${tag.replace(/\W/g, '')}`) : answer;
}

export const summaryText = 'Objective: to go on with what was asked for.';

/** How the text begins that is added to a running turn. */
export const steerMark = 'And one more thing: ';
