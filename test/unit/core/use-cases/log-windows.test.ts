import { expect, test } from 'vitest';
import { failureOf } from '../../../../src/core/domain/model/failure.ts';
import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';

test('the effective numbers of a window are logged with its first turn, and again when a provider has stated another', async () => {
  const gateway = await MemoryGateway.started({ window: { contextTokens: 20_000, source: 'catalogue' } });
  const logged = (): readonly unknown[] =>
    gateway.logger.lines
      .filter(({ message }) => message === 'the context window of a model')
      .map(({ fields }) => [fields?.['windowTokens'], fields?.['windowSource'], fields?.['triggerTokens']]);
  gateway.model.enqueue(textAnswer('One.'), textAnswer('Two.'));
  const sessionId = await gateway.create();
  await gateway.turn(sessionId, 'a', 'word '.repeat(5000));
  await gateway.turn(sessionId, 'b');
  expect(logged()).toEqual([[20_000, 'catalogue', 13_500]]);

  const failure = failureOf('context_overflow', 'too long');
  gateway.model.enqueue(
    [{ kind: 'failed', failure, learnt: { contextTokens: 10_000 }, usage: null }],
    textAnswer('Summary.'),
    textAnswer('Three.'),
  );
  await gateway.turn(sessionId, 'c');
  gateway.model.enqueue(textAnswer('Four.'));
  await gateway.turn(sessionId, 'd');

  expect(logged()[1]).toEqual([10_000, 'learnt', 6_750]);
});
