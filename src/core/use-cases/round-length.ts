import { textLength } from '../domain/transcript/content-page.ts';
import type { Waiting } from './waiting-command.ts';

/** The most commands that are decided together, and about the most text that they may bring to one append. */
const maxCommands = 256;
const maxCharacters = 1024 * 1024;

/** How many of the commands that wait make the next round: at least one, whatever it brings. */
export function roundLength(waiting: readonly Waiting[]): number {
  let characters = 0;
  for (const [index, { command }] of waiting.entries()) {
    characters += textLength(command);
    if (index >= maxCommands || (index > 0 && characters > maxCharacters)) return index;
  }
  return waiting.length;
}
