import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CatalogOptions } from '../../../../src/adapters/outbound/catalog/layered-catalog.ts';
import { makeLayeredCatalog } from '../../../../src/adapters/outbound/catalog/layered-catalog.ts';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import type { ModelCatalog } from '../../../../src/core/ports/model-catalog.ts';

interface Rig {
  readonly catalog: ModelCatalog;
  readonly warnings: readonly string[];
  readonly cacheFile: string;
  readonly clock: FakeClock;
}

function aRig(cache: string | object | null, options: Partial<CatalogOptions> = {}): Rig {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-catalog-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const cacheFile = join(home, 'models_dev_cache.json');
  if (cache !== null) writeFileSync(cacheFile, typeof cache === 'string' ? cache : JSON.stringify(cache));
  const warnings: string[] = [];
  const clock = new FakeClock();
  const catalog = makeLayeredCatalog({
    configured: [],
    cacheFile,
    clock,
    logger: { warn: (message) => void warnings.push(message) },
    ...options,
  });
  return { catalog, warnings, cacheFile, clock };
}

const limitsOf = (catalog: ModelCatalog, provider: string, model: string, baseUrl: string | null = null) =>
  catalog.limits({ provider, model, baseUrl });

describe('the limits of a model', () => {
  const configured = [{ provider: 'custom', model: 'mine', baseUrl: null, contextTokens: 64_000, outputTokens: null }];
  const cache = {
    custom: { models: { mine: { limit: { context: 32_000, output: 4000 } }, other: { limit: { context: 16_000 } } } },
  };

  it('are the configured ones first, with what the configuration leaves out from the next source (B32)', () => {
    const { catalog } = aRig(cache, { configured });

    expect(limitsOf(catalog, 'custom', 'mine')).toEqual({
      contextTokens: 64_000,
      outputTokens: 4000,
      source: 'configured',
    });
  });

  it('are configured for the named model only', () => {
    const { catalog } = aRig(null, { configured });

    expect(limitsOf(catalog, 'custom', 'another').source).toBe('default');
    expect(limitsOf(catalog, 'else', 'mine').source).toBe('default');
  });

  it('come from the cache file second', () => {
    const { catalog } = aRig(cache);

    expect(limitsOf(catalog, 'custom', 'other')).toEqual({
      contextTokens: 16_000,
      outputTokens: null,
      source: 'cache',
    });
  });

  it('come from the shipped catalogue third', () => {
    const { catalog } = aRig(null);

    expect(limitsOf(catalog, 'anthropic', 'claude-3-5-sonnet-20241022')).toEqual({
      contextTokens: 200_000,
      outputTokens: 8192,
      source: 'catalogue',
    });
    expect(limitsOf(catalog, 'demo', 'demo')).toEqual({ contextTokens: 8192, outputTokens: 2048, source: 'catalogue' });
  });

  it('are found by the model alone where the provider is not known, without its prefix and variant', () => {
    const { catalog } = aRig(null);

    expect(limitsOf(catalog, 'custom', 'Anthropic/claude-3-5-sonnet-20241022:beta')).toMatchObject({
      contextTokens: 200_000,
      source: 'catalogue',
    });
  });

  it('are the smallest where several providers differ', () => {
    const { catalog } = aRig({
      a: { models: { m: { limit: { context: 9000 } } } },
      b: { models: { m: { limit: { context: 5000 } } } },
    });

    expect(limitsOf(catalog, 'custom', 'm').contextTokens).toBe(5000);
    expect(limitsOf(catalog, 'a', 'm').contextTokens).toBe(9000);
  });

  it('are the default last, with one warning per model (B29)', () => {
    const { catalog, warnings } = aRig(null);

    for (let round = 0; round < 3; round += 1)
      expect(limitsOf(catalog, 'custom', 'x')).toEqual({ contextTokens: 8192, outputTokens: null, source: 'default' });
    limitsOf(catalog, 'custom', 'y');

    expect(warnings).toHaveLength(2);
  });

  it('are looked up without harm for names that objects have of themselves', () => {
    const { catalog } = aRig({ custom: { models: {} } });

    for (const name of ['constructor', '__proto__', 'toString', ''])
      expect(limitsOf(catalog, name, name).source).toBe('default');
  });
});

describe('the cache file', () => {
  it.each<[string, string]>([
    ['is no JSON', '{"custom":'],
    ['holds no object', '[1,2]'],
  ])('that %s is ignored with one warning (F11)', (_, text) => {
    const { catalog, warnings } = aRig(text);

    limitsOf(catalog, 'demo', 'demo');
    expect(limitsOf(catalog, 'demo', 'demo').source).toBe('catalogue');
    expect(warnings).toHaveLength(1);
  });

  it.each([
    {},
    { limit: null },
    { limit: { context: 0 } },
    { limit: { context: '64000' } },
    { limit: { context: -5 } },
    { limit: { context: 1.5 } },
    null,
  ])('with the entry %j leaves the next source to answer', (entry) => {
    const { catalog } = aRig({ demo: { models: { demo: entry } }, broken: null, odd: { models: 5 } });

    expect(limitsOf(catalog, 'demo', 'demo').source).toBe('catalogue');
  });

  it('is read again when it changes, appears or goes, within a second', async () => {
    const { catalog, cacheFile, clock } = aRig(null);
    const write = (context: number, at: number) => {
      writeFileSync(cacheFile, JSON.stringify({ custom: { models: { m: { limit: { context } } } } }));
      utimesSync(cacheFile, at, at);
    };
    const windowNow = () => limitsOf(catalog, 'custom', 'm').contextTokens;
    const windowLater = async () => {
      await clock.advance(1_000);
      return windowNow();
    };

    expect(windowNow()).toBe(8192);
    write(10_000, 1000);
    expect(windowNow()).toBe(8192);
    expect(await windowLater()).toBe(10_000);
    write(20_000, 2000);
    expect(await windowLater()).toBe(20_000);
    rmSync(cacheFile);
    expect(await windowLater()).toBe(8192);
  });
});

describe('what a model takes beside text', () => {
  const entry = { limit: { context: 32_000 }, modalities: { input: ['text', 'image'], output: ['text'] } };
  const cache = { custom: { models: { mine: entry } } };
  const written = { provider: 'custom', model: 'mine', baseUrl: null, contextTokens: null, outputTokens: 900 };

  it('is what the cache file lists', () => {
    expect(limitsOf(aRig(cache).catalog, 'custom', 'mine')).toMatchObject({ takes: { images: true, files: false } });
  });

  it('is what the configuration says, kind by kind, before it', () => {
    const { catalog } = aRig(cache, { configured: [{ ...written, images: null, files: true }] });

    expect(limitsOf(catalog, 'custom', 'mine')).toEqual({
      contextTokens: 32_000,
      outputTokens: 900,
      cappedOutputTokens: 900,
      takes: { images: true, files: true },
      source: 'cache',
    });
  });

  it('is not known where nobody says', () => {
    expect(limitsOf(aRig(null).catalog, 'custom', 'unheard-of')).not.toHaveProperty('takes');
  });
});
