import { addressOf, auxiliaryTasks, defaultTarget } from './model-endpoints.ts';
import type { DefaultTarget } from './model-endpoints.ts';
import type { Config } from './schema.ts';

/** What the configuration says of one model; null where it says nothing. */
export interface ModelSettings {
  readonly contextTokens: number | null;
  readonly outputTokens: number | null;
  readonly images: boolean | null;
  readonly files: boolean | null;
  readonly temperature: number | null;
  readonly reasoningEffort: Config['model']['reasoning_effort'];
  readonly alternatingRoles: boolean | null;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The entry of the model under its provider, and for the default model what `model` says before it. */
export function modelSettings(config: Config, provider: string, model: string): ModelSettings {
  const entry = config.providers[provider]?.models[model];
  const own = isDefaultModel(config, provider, model) ? config.model : null;
  return {
    contextTokens: own?.context_length ?? entry?.context_length ?? null,
    outputTokens: own?.max_output_tokens ?? entry?.max_output_tokens ?? null,
    images: own?.images ?? entry?.images ?? null,
    files: own?.files ?? entry?.files ?? null,
    temperature: own?.temperature ?? entry?.temperature ?? null,
    reasoningEffort: own?.reasoning_effort ?? entry?.reasoning_effort ?? null,
    alternatingRoles: own?.alternating_roles ?? entry?.alternating_roles ?? null,
    options: entry?.options ?? {},
  };
}

/** The models that are asked when this one can't answer: its own list, else its provider's, else that of `model`. */
export function fallbacksOf(config: Config, provider: string, model: string): readonly DefaultTarget[] {
  const named = config.providers[provider];
  const isDefault = isDefaultModel(config, provider, model);
  const lists = [named?.models[model]?.fallbacks, named?.fallbacks, isDefault ? config.model.fallbacks : undefined];
  const list = lists.find((each) => each !== undefined && each.length > 0) ?? [];
  return list
    .map((each) => targetOf(config, each.provider, each.model))
    .filter((each) => each.provider !== provider || each.model !== model);
}

/** Every model that the configuration names, the default one first. */
export function namedModels(config: Config): readonly DefaultTarget[] {
  const standard = defaultTarget(config);
  const named = Object.entries(config.providers).flatMap(([provider, { models, fallbacks }]) => [
    ...Object.keys(models).map((model) => ({ provider, model })),
    ...fallbacks,
    ...Object.values(models).flatMap((entry) => entry.fallbacks),
  ]);
  const auxiliary = auxiliaryTasks.flatMap((task) => {
    const { provider, model } = config.auxiliary[task];
    return model === null ? [] : [{ provider: provider ?? standard.provider, model }];
  });
  const all = [...config.model.fallbacks, ...named, ...auxiliary].map(({ provider, model }) =>
    targetOf(config, provider, model),
  );
  return [standard, ...all].filter((each, index, list) => list.findIndex((other) => isSame(other, each)) === index);
}

export function isDefaultModel(config: Config, provider: string, model: string): boolean {
  return isSame(defaultTarget(config), { provider, model });
}

type Named = Pick<DefaultTarget, 'provider' | 'model'>;

function isSame(a: Named, b: Named): boolean {
  return a.provider === b.provider && a.model === b.model;
}

function targetOf(config: Config, provider: string, model: string): DefaultTarget {
  const named = config.providers[provider];
  const baseUrl = provider === 'custom' ? config.model.base_url : named === undefined ? null : addressOf(named);
  return { provider, model, baseUrl: baseUrl?.replace(/\/+$/, '') ?? null };
}
