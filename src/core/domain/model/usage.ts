/** What a provider says that a request cost, in tokens. A number that it left out is null, never zero. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
}

export const noUsage: Usage = { inputTokens: null, outputTokens: null, totalTokens: null };

/** Adds two reports of usage; a number is null only when both left it out. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: addKnown(a.inputTokens, b.inputTokens),
    outputTokens: addKnown(a.outputTokens, b.outputTokens),
    totalTokens: addKnown(a.totalTokens, b.totalTokens),
  };
}

/** The same where a report may be missing altogether. */
export function sumUsage(a: Usage | null, b: Usage | null): Usage | null {
  return a === null || b === null ? (a ?? b) : addUsage(a, b);
}

function addKnown(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}
