import type { ModelCatalog, ModelLimits } from '../../../core/ports/model-catalog.ts';
import type { ModelTarget } from '../../../core/ports/model-provider.ts';

/** Knows the limits that it was given: by the model's name, and one answer for every other model. */
export class FixedCatalog implements ModelCatalog {
  readonly #fallback: ModelLimits;
  readonly #byModel: ReadonlyMap<string, ModelLimits>;

  constructor(fallback: ModelLimits, byModel: Readonly<Record<string, ModelLimits>> = {}) {
    this.#fallback = fallback;
    this.#byModel = new Map(Object.entries(byModel));
  }

  limits(target: ModelTarget): ModelLimits {
    return this.#byModel.get(target.model) ?? this.#fallback;
  }
}
