import type { ModelInputs } from '../domain/admission/unsupported-parts.ts';
import type { ModelTarget } from './model-provider.ts';

export type { ModelInputs };

export interface ModelLimits {
  /** The context window in tokens, input and output together. */
  readonly contextTokens: number;
  /** The most output tokens of one answer, where it is known. */
  readonly outputTokens: number | null;
  /** The cap that an operator put on one answer of this model. Absent: none. */
  readonly cappedOutputTokens?: number;
  /** Which parts beside text a prompt may have. Absent, as a whole or in part: nobody says. */
  readonly takes?: ModelInputs;
  /** Whether an operator wrote the number: only such a number may be called wrong. */
  readonly source: 'configured' | 'learnt' | 'cache' | 'catalogue' | 'default';
}

/** What is known of a model's limits. The answer never fails: an unknown model has the documented default. */
export interface ModelCatalog {
  limits(target: ModelTarget): ModelLimits;
}
