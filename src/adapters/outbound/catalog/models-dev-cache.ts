import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '../../../core/ports/clock.ts';
import type { Logger } from '../../../core/ports/logger.ts';
import type { KnownLimits, LimitSource } from './layered-catalog.ts';
import type { LimitTable } from './limit-table.ts';
import { lookUpIn, tokenCount } from './limit-table.ts';

/** How long what was seen of the file is taken for true: a turn asks for limits many times. */
const restMs = 1_000;

/**
 * Limits from a file in the form of https://models.dev/api.json: provider → `models` → model → `limit.context` and
 * `limit.output`. The file is read again when it changes, within a second. One that can't be used is told of once
 * and ignored.
 */
export function cachedLimits(
  file: string,
  { clock, logger }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly logger: Pick<Logger, 'warn'> },
): LimitSource {
  let version: string | null = null;
  let nextLookMs = -Infinity;
  let lookUp: LimitSource = () => null;
  return (provider, model) => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= nextLookMs) {
      nextLookMs = nowMs + restMs;
      look();
    }
    return lookUp(provider, model);
  };

  function look(): void {
    const current = versionOf(file);
    if (current === version) return;
    version = current;
    lookUp = current === null ? () => null : lookUpIn(tableFrom(file, logger));
  }
}

function versionOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? null : `${String(found.mtimeMs)} ${String(found.size)}`;
}

function tableFrom(file: string, logger: Pick<Logger, 'warn'>): LimitTable {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isRecord(value)) return limitTable(value);
    logger.warn('the file of model limits is ignored: it holds no object', { file });
  } catch (error) {
    logger.warn('the file of model limits is ignored: it is no JSON or cannot be read', { file, error });
  }
  return new Map();
}

function limitTable(providers: Readonly<Record<string, unknown>>): LimitTable {
  return new Map(
    Object.entries(providers).map(([name, provider]) => {
      const models = isRecord(provider) && isRecord(provider['models']) ? Object.entries(provider['models']) : [];
      return [name.toLowerCase(), new Map(models.flatMap(([model, entry]) => limitEntry(model, entry)))] as const;
    }),
  );
}

/** An entry without a usable window is left out, and the next source is asked. */
function limitEntry(model: string, entry: unknown): readonly (readonly [string, KnownLimits])[] {
  const limit = isRecord(entry) && isRecord(entry['limit']) ? entry['limit'] : {};
  const contextTokens = tokenCount(limit['context']);
  return contextTokens === null
    ? []
    : [[model.toLowerCase(), { contextTokens, outputTokens: tokenCount(limit['output']), ...takesField(entry) }]];
}

/** `modalities.input` lists what a model takes beside text. */
function takesField(entry: unknown): Pick<KnownLimits, 'takes'> {
  const modalities = isRecord(entry) && isRecord(entry['modalities']) ? entry['modalities'] : {};
  const input: unknown = modalities['input'];
  return Array.isArray(input) ? { takes: { images: input.includes('image'), files: input.includes('pdf') } } : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
