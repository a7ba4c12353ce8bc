import { describe, expect, test } from 'vitest';
import { ApproximateTokenCounter } from '../../../../src/adapters/outbound/memory/approximate-token-counter.ts';
import { CountingIds } from '../../../../src/adapters/outbound/memory/counting-ids.ts';
import { FixedCatalog } from '../../../../src/adapters/outbound/memory/fixed-catalog.ts';
import { RecordingLogger } from '../../../../src/adapters/outbound/memory/recording-logger.ts';
import type { ModelLimits } from '../../../../src/core/ports/model-catalog.ts';

describe('counting ids', () => {
  test('are never the same, and sort as they were made when they have a width', () => {
    const [short, wide] = [new CountingIds('id'), new CountingIds('id', { width: 3 })];

    expect([short.next(), short.next()]).toEqual(['id-1', 'id-2']);
    expect([wide.next(), wide.next()]).toEqual(['id-001', 'id-002']);
  });
});

describe('the approximate token counter', () => {
  test('counts UTF-8 bytes / 4, rounded up, for each text', async () => {
    const counts = await new ApproximateTokenCounter().count(['', 'a', 'abcd', 'abcde', 'é', '🙂🙂']);

    expect(counts).toEqual([0, 1, 1, 2, 1, 2]);
  });
});

describe('the fixed catalogue', () => {
  test('knows the models that it was told, and has one answer for all others', () => {
    const fallback: ModelLimits = { contextTokens: 8_192, outputTokens: null, source: 'default' };
    const large: ModelLimits = { contextTokens: 200_000, outputTokens: 8_000, source: 'configured' };
    const catalog = new FixedCatalog(fallback, { large });
    const limitsOf = (model: string) => catalog.limits({ provider: 'custom', model, baseUrl: null });

    expect([limitsOf('large'), limitsOf('small'), limitsOf('toString')]).toEqual([large, fallback, fallback]);
  });
});

describe('the recording logger', () => {
  test('keeps every line in order', () => {
    const logger = new RecordingLogger();

    logger.debug('a', { n: 1 });
    logger.info('b');
    logger.warn('c');
    logger.error('d');

    expect(logger.lines).toEqual([
      { level: 'debug', message: 'a', fields: { n: 1 } },
      { level: 'info', message: 'b', fields: {} },
      { level: 'warn', message: 'c', fields: {} },
      { level: 'error', message: 'd', fields: {} },
    ]);
  });
});
