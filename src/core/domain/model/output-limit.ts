/** What is known of the limits of a model, as far as its answers go. */
export interface AnswerLimits {
  readonly contextTokens: number;
  readonly outputTokens: number | null;
  /** What an operator allows one answer of this model. */
  readonly cappedOutputTokens?: number;
  readonly source: 'configured' | 'learnt' | 'cache' | 'catalogue' | 'default';
}

/** What a request says of the length of its answer. */
export interface OutputLimit {
  /** Null: nothing, so that the provider's own default counts. */
  readonly maxOutputTokens: number | null;
  /** The most that the model and its window leave, where they are known. */
  readonly outputCeilingTokens?: number;
}

/** The cap that counts for a model: its own, else the general one as far as the model goes. Null: there is none. */
export function outputCap(limits: Omit<AnswerLimits, 'source'>, generalCapTokens: number | null): number | null {
  if (limits.cappedOutputTokens !== undefined) return limits.cappedOutputTokens;
  return generalCapTokens === null ? null : Math.min(generalCapTokens, limits.outputTokens ?? Infinity);
}

/** No answer is asked to be shorter: a window that is fuller than that is met as an overflow. */
const leastOutputTokens = 256;
/** Our count is not the provider's: so much of what the window leaves is not asked for. */
const safeShare = 0.95;

/**
 * How long the answer to a request of this size may be. Many providers refuse a request whose input and most output
 * together are over the window. A window that nobody stated limits nothing.
 */
export function outputLimit(limits: AnswerLimits, capTokens: number | null, requestTokens: number): OutputLimit {
  const left =
    limits.source === 'default'
      ? Infinity
      : Math.max(leastOutputTokens, Math.floor(safeShare * (limits.contextTokens - requestTokens)));
  const ceiling = Math.min(limits.outputTokens ?? Infinity, left);
  return {
    maxOutputTokens: capTokens === null ? null : Math.min(capTokens, left),
    ...(Number.isFinite(ceiling) && { outputCeilingTokens: ceiling }),
  };
}

/** What is asked for after a provider refused a request for the length of its answer. */
export function afterOutputRefusal({ maxOutputTokens, outputCeilingTokens }: OutputLimit): OutputLimit {
  const asked = maxOutputTokens ?? outputCeilingTokens ?? 2 * modestOutputTokens;
  return { maxOutputTokens: Math.max(leastOutputTokens, Math.min(modestOutputTokens, Math.floor(asked / 2))) };
}

/**
 * What is asked for after an overflow, when the window as it is known now leaves less for the answer than was asked for.
 * Null: a shorter answer is no cure. Where no length was asked for, it was not the answer that didn't fit.
 */
export function afterOverflow(asked: OutputLimit, leaves: OutputLimit): OutputLimit | null {
  const left = leaves.maxOutputTokens ?? leaves.outputCeilingTokens ?? Infinity;
  return asked.maxOutputTokens !== null && left < asked.maxOutputTokens ? { maxOutputTokens: left } : null;
}

/** What every model in use takes. */
const modestOutputTokens = 4096;
