import type { ModelTarget } from './model-provider.ts';

export interface ModelLimits {
  /** The context window in tokens, input and output together. */
  readonly contextTokens: number;
  /** The most output tokens of one answer, where it is known. */
  readonly outputTokens: number | null;
  /** Whether an operator wrote the number: only such a number may be called wrong. */
  readonly source: 'configured' | 'learnt' | 'cache' | 'catalogue' | 'default';
}

/** What is known of a model's limits. The answer never fails: an unknown model has the documented default. */
export interface ModelCatalog {
  limits(target: ModelTarget): ModelLimits;
}
