import type { KnownLimits, LimitSource } from './layered-catalog.ts';

/** Limits by provider and model, names in lower case. */
export type LimitTable = ReadonlyMap<string, ReadonlyMap<string, KnownLimits>>;

/**
 * Looks a model up under its provider. Where the provider isn't in the table (`custom`, a proxy), the model's name alone
 * decides, and of several providers that have it the smallest window.
 */
export function lookUpIn(table: LimitTable): LimitSource {
  return (provider, model) => {
    const own = table.get(provider.toLowerCase());
    for (const name of namesOf(model)) {
      const found = own?.get(name) ?? smallest([...table.values()].flatMap((models) => models.get(name) ?? []));
      if (found !== null) return found;
    }
    return null;
  };
}

/** `openai/gpt-4o:free` is also looked up as `openai/gpt-4o` and as `gpt-4o`. */
function namesOf(model: string): readonly string[] {
  const name = model.toLowerCase();
  const withoutVariant = name.replace(/:[\w-]+$/, '');
  return [...new Set([name, withoutVariant, withoutVariant.slice(withoutVariant.lastIndexOf('/') + 1)])];
}

function smallest(candidates: readonly KnownLimits[]): KnownLimits | null {
  const [first, ...rest] = candidates;
  if (first === undefined) return null;
  return rest.reduce((least, each) => (each.contextTokens < least.contextTokens ? each : least), first);
}

/** A number of tokens that can be meant; zero stands for "unknown" in more than one table. */
export function tokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
}
