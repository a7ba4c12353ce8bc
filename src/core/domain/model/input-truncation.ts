/** Below this size counts differ by more than their size: nothing follows from them. */
const leastTokens = 2_000;
/** Our count is never twice as large as a provider's own of the same text. */
const readShare = 0.5;

/**
 * Whether a provider has read much less than it was sent. Some servers cut the beginning of what doesn't fit the window
 * that they run, answer all the same, and report the size of what was left.
 */
export function seemsTruncated(sentTokens: number, reportedTokens: number | null): boolean {
  return (
    reportedTokens !== null &&
    reportedTokens > 0 &&
    sentTokens >= leastTokens &&
    reportedTokens < readShare * sentTokens
  );
}
