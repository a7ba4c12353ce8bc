/* A provider that counts bytes: its refusal says nothing of tokens, and comes again with every later request. */
import { describe, expect, test } from 'vitest';
import { failedWith, ScriptedModel, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { ContentPart } from '../../../../src/core/domain/transcript/message.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { done, MemoryGateway, said } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';

const image: ContentPart = { type: 'image', mediaType: 'image/png', data: 'AAAA' };

function imagesOf({ messages }: ModelRequest): number {
  return messages
    .flatMap((message) => (message.role === 'tool' ? [] : (message.parts ?? [])))
    .filter(({ type }) => type === 'image').length;
}

/** A session at a provider that takes so many images and characters in one request, and no more. */
async function aSession({ maxImages = 3, maxCharacters = 100_000 } = {}) {
  const model = new ScriptedModel((request) => {
    if (imagesOf(request) > maxImages || said(request).join('').length > maxCharacters) {
      return [failedWith('payload_too_large', 'Request Entity Too Large')];
    }
    return textAnswer(request.purpose === 'summary' ? 'SUMMARY OF BEFORE' : 'I see.');
  });
  const gateway = await MemoryGateway.started({ model });
  const sessionId = await gateway.create();
  const show = async (inputId: string, images: number) => {
    const parts = [{ type: 'text' as const, text: inputId }, ...Array.from({ length: images }, () => image)];
    done(await gateway.trySubmit(sessionId, inputId, { text: inputId, parts }));
    return gateway.ended(sessionId, inputId);
  };
  return { gateway, sessionId, show };
}

describe('a request with more bytes than the provider takes', () => {
  test('goes out again without the images of older messages, which are named (C26)', async () => {
    const { gateway, show } = await aSession();
    for (const inputId of ['one', 'two', 'three']) await show(inputId, 1);

    const ended = await show('four', 1);

    expect(ended.outcome).toBe('completed');
    const last = gateway.requests('turn').at(-1);
    expect(
      last?.messages.filter(({ role }) => role === 'user').map((message) => 'parts' in message && message.parts),
    ).toEqual([
      ...['one', 'two', 'three'].map((text) => [
        { type: 'text', text },
        { type: 'text', text: '[image/png: left out here, since the request was too large]' },
      ]),
      [{ type: 'text', text: 'four' }, image],
    ]);
    expect(gateway.requests('turn')).toHaveLength(5);
    expect(gateway.requests('summary')).toEqual([]);
    expect(requestFaults(last?.messages ?? [])).toEqual([]);
  });

  test('keeps no session from going on: later prompts run too, and what is stored stays whole (C26)', async () => {
    const { gateway, sessionId, show } = await aSession();
    for (const inputId of ['one', 'two', 'three', 'four']) await show(inputId, 1);

    expect((await gateway.turn(sessionId, 'text', 'And now?')).outcome).toBe('completed');
    expect((await show('five', 2)).outcome).toBe('completed');

    const stored = (await gateway.transcript(sessionId)).flatMap(({ parts }) => parts ?? []);
    expect(stored.filter(({ type }) => type === 'image')).toHaveLength(6);
  });

  test('of text alone is compressed, once (C25)', async () => {
    const { gateway, sessionId } = await aSession({ maxCharacters: 5000 });
    for (const inputId of ['a', 'b', 'c', 'd', 'e', 'f']) await gateway.turn(sessionId, inputId, inputId.repeat(900));

    expect(gateway.admission(sessionId, 'f').outcome).toBe('completed');
    expect(gateway.requests('summary')).toHaveLength(1);
    expect((await gateway.state(sessionId)).lineage.compressions).toBe(1);
  });

  test('because of its newest prompt alone fails as such, and the next prompt runs without that one (C26)', async () => {
    const { gateway, sessionId, show } = await aSession();
    await gateway.turn(sessionId, 'before');

    const ended = await show('too many', 9);
    const after = await gateway.turn(sessionId, 'after', 'Still there?');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'payload_too_large' } });
    expect(after.outcome).toBe('completed');
    expect(said(gateway.requests('turn').at(-1)).join('\n')).not.toContain('too many');
    // Asked, then once more after one compression: nothing is tried for ever.
    expect(gateway.requests('turn').filter((request) => imagesOf(request) === 9).length).toBeLessThanOrEqual(2);
  });
});
