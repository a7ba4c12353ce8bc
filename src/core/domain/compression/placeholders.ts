import type { MessageMeta } from '../transcript/message.ts';
import { sumTokens } from '../transcript/tokens.ts';
import { groupsOf } from './message-groups.ts';

/** Old tool outputs that a request shows as a short line. What is stored stays whole. */
export interface Placeholders {
  /** The messages that are replaced. */
  readonly ids: ReadonlySet<number>;
  readonly savedTokens: number;
}

export const noPlaceholders: Placeholders = { ids: new Set(), savedTokens: 0 };

/** What a summary request shows of one tool output at most, in tokens. */
const shownTokens = 550;
/** The share of the trigger that a summary request can show without cutting everything short. */
const summarisableShare = 0.75;

/**
 * Whether one summary can still tell what the transcript holds. Placeholders put a compression off, and must not do so
 * until the outputs that they hide are too many to be summarised.
 */
export function isSummarisable(messages: readonly MessageMeta[], triggerTokens: number): boolean {
  const shown = messages.reduce(
    (sum, { kind, tokens }) => sum + (kind === 'tool' ? Math.min(tokens, shownTokens) : tokens),
    0,
  );
  return shown <= summarisableShare * triggerTokens;
}

/** What the line costs, generously. */
const placeholderTokens = 30;
/** Only what costs more than this is worth a line. */
const bulkyTokens = 240;
/** What may stay as it is at the end, as a share of the trigger; what the model has not seen stays in any case. */
const keptShare = 0.5;

/** Every bulky tool output that is older than what the policy protects at the end. */
export function placeholdersFor(
  messages: readonly MessageMeta[],
  policy: { readonly protectLastN: number; readonly triggerTokens: number },
): Placeholders {
  const replaced = olderThanKept(messages, policy).filter(
    ({ kind, tokens }) => kind === 'tool' && tokens > bulkyTokens,
  );
  return {
    ids: new Set(replaced.map(({ id }) => id)),
    savedTokens: sumTokens(replaced) - placeholderTokens * replaced.length,
  };
}

function olderThanKept(
  messages: readonly MessageMeta[],
  { protectLastN, triggerTokens }: { readonly protectLastN: number; readonly triggerTokens: number },
): readonly MessageMeta[] {
  const groups = groupsOf(messages);
  // A turn that was stopped, and a fork, may leave outputs that no answer followed: the next prompt is a group of its own.
  const firstUnseen = groups.findLastIndex((group) => group.some(({ role }) => role === 'assistant'));
  let kept = 0;
  let tokens = 0;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    const group = groups[index] ?? [];
    tokens += sumTokens(group);
    kept += group.length;
    if (index < firstUnseen && (kept > protectLastN || tokens > keptShare * triggerTokens)) {
      return groups.slice(0, index + 1).flat();
    }
  }
  return [];
}

/** The line that stands in place of an output of this length. */
export function placeholderText(characters: number): string {
  return `[An earlier output of ${String(characters)} characters was left out here. Call the tool again if it is needed.]`;
}
