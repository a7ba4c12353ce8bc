import type { LimitSource } from './layered-catalog.ts';
import { lookUpIn, tokenCount } from './limit-table.ts';
import modelLimits from './model-limits.json' with { type: 'json' };

/** Provider → model → window and most output tokens, as scripts/generate-model-limits.mjs writes it. */
const providers: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = modelLimits.providers;

/** The limits that this version was shipped with. */
export const shippedLimits: LimitSource = lookUpIn(
  new Map(
    Object.entries(providers).map(([provider, models]) => [
      provider,
      new Map(
        Object.entries(models).flatMap(([model, [context, output]]) => {
          const contextTokens = tokenCount(context);
          return contextTokens === null ? [] : [[model, { contextTokens, outputTokens: tokenCount(output) }] as const];
        }),
      ),
    ]),
  ),
);
