/* A prompt that a provider refuses for what it holds fails alone: those behind it are sent without it. */
import { expect, test } from 'vitest';
import { failedWith, ScriptedModel, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { done, MemoryGateway, said } from '../../../support/memory-gateway.ts';

async function aGateway(refuses: (request: ModelRequest) => boolean, reason: 'content_filtered' | 'bad_request') {
  const model = new ScriptedModel((request) => (refuses(request) ? [failedWith(reason, 'No.')] : textAnswer('Fine.')));
  const gateway = await MemoryGateway.started({ model });
  return { gateway, sessionId: await gateway.create() };
}

test('a prompt that a filter stops does not stop the prompts behind it', async () => {
  const { gateway, sessionId } = await aGateway(
    (request) => said(request).join(' ').includes('BADWORD'),
    'content_filtered',
  );

  await gateway.turn(sessionId, 'a', 'Hello');
  const refused = await gateway.turn(sessionId, 'b', 'BADWORD, please');

  expect(refused.failure?.reason).toBe('content_filtered');
  expect((await gateway.turn(sessionId, 'c', 'What is 1 + 1?')).outcome).toBe('completed');
  expect(said(gateway.requests('turn').at(-1))).toEqual(['user: Hello', 'assistant: Fine.', 'user: What is 1 + 1?']);
});

test('an image that a provider cannot read does not stop the prompts behind it', async () => {
  const { gateway, sessionId } = await aGateway(
    ({ messages }) => JSON.stringify(messages).includes('image/png'),
    'bad_request',
  );
  const parts = [
    { type: 'text' as const, text: 'See' },
    { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' },
  ];

  done(await gateway.trySubmit(sessionId, 'image', { text: 'See', parts }));

  expect((await gateway.ended(sessionId, 'image')).failure?.reason).toBe('bad_request');
  expect((await gateway.turn(sessionId, 'next', 'And now?')).outcome).toBe('completed');
});
