import { describe, expect, test } from 'vitest';
import {
  failedWith,
  ScriptedModel,
  textAnswer,
  toolAnswer,
} from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { maxPageCharacters } from '../../../../src/core/domain/transcript/content-page.ts';
import { aToolCall } from '../../../support/builders.ts';
import { done, MemoryGateway, quiet } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';

/** A model that gives this answer to every request for a title. */
const titling = (title: Script): ScriptedModel =>
  new ScriptedModel((request) => (request.purpose === 'title' ? title : textAnswer('Fine.')));

async function given(title: Script, options: MemoryGatewayOptions = {}): Promise<MemoryGateway> {
  return MemoryGateway.started({ model: titling(title), titles: { target: null }, ...options });
}

const titleOf = async (core: MemoryGateway, sessionId: string): Promise<string | null> =>
  (await core.state(sessionId)).profile.title;

const titled = (core: MemoryGateway, sessionId: string): Promise<unknown> =>
  core.happened(sessionId, ({ type }) => type === 'session.updated');

/** Everything that can go on without a clock has gone on. */
async function settled(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await quiet();
}

const gated: Script = [{ kind: 'gate', name: 'title' }, ...textAnswer('Planning a trip')];

describe('a session without a title', () => {
  test('gets one after its first answer, by one small request of its own model', async () => {
    const core = await given(textAnswer('"Planning a trip."'));
    const sessionId = await core.create();

    await core.turn(sessionId, 'a', 'Where shall I go?');
    await titled(core, sessionId);
    await core.turn(sessionId, 'b');
    await settled();

    expect(core.log(sessionId).find(({ type }) => type === 'session.updated')).toMatchObject({
      changes: { title: 'Planning a trip' },
      by: 'title_generation',
    });
    expect(core.requests('title')).toMatchObject([
      { target: { provider: 'custom', model: 'test-model', baseUrl: null }, tools: [], maxOutputTokens: 500 },
    ]);
    expect(core.requests('title')[0]?.messages).toMatchObject([
      { role: 'user', text: expect.stringContaining('Where shall I go?') as string },
    ]);
    expect(core.requests('turn').every(({ messages }) => !JSON.stringify(messages).includes('Planning'))).toBe(true);
  });

  test('gets it by what was asked and answered, also where the prompt is as large as a page', async () => {
    const core = await given(textAnswer('A picture'));
    const sessionId = await core.create();
    const image = { type: 'image', mediaType: 'image/png', data: 'x'.repeat(maxPageCharacters) } as const;

    await core.trySubmit(sessionId, 'a', {
      text: 'What is this?',
      parts: [{ type: 'text', text: 'What is this?' }, image],
    });
    await titled(core, sessionId);

    const [request] = core.requests('title');
    expect(request?.messages[0]?.text).toContain('What is this?');
    expect(request?.messages[0]?.text).toContain('Fine.');
  });

  test('gets it from the model that is configured for it', async () => {
    const target = { provider: 'other', model: 'small', baseUrl: 'http://127.0.0.1:1' };
    const core = await given(textAnswer('Planning a trip'), { titles: { target } });
    const sessionId = await core.create();
    await core.turn(sessionId, 'a');
    await titled(core, sessionId);

    expect(core.requests('title')).toMatchObject([{ target }]);
  });

  test('gets none where titles are not asked for', async () => {
    const core = await given(textAnswer('Planning a trip'), { titles: null });
    const sessionId = await core.create();
    await core.turn(sessionId, 'a');
    await settled();

    expect([core.requests('title').length, await titleOf(core, sessionId)]).toEqual([0, null]);
  });

  test('waits for an answer: a turn that fails and a step with tools bring no request', async () => {
    const core = await given(textAnswer('Planning a trip'));
    const sessionId = await core.create();
    core.model.enqueue([failedWith('bad_request', 'No.')], toolAnswer([aToolCall({ name: 'nothing' })]), [
      { kind: 'gate', name: 'go' },
      ...textAnswer('At last.'),
    ]);

    await core.turn(sessionId, 'a');
    await core.submit(sessionId, 'b', 'Where shall I go?');
    await core.model.reached('go');
    await settled();
    expect(core.requests('title')).toEqual([]);

    core.model.release('go');
    await titled(core, sessionId);
    expect(JSON.stringify(core.requests('title'))).toContain('At last.');
  });

  test.each([
    ['a failure', [failedWith('unavailable', 'The model is down.')]],
    ['nothing', textAnswer('')],
    ['an essay', textAnswer('Here it is:\n\nPlanning a trip')],
    ['a call', toolAnswer([aToolCall()])],
    [
      'an answer without an end',
      Array.from({ length: 100 }, () => ({ kind: 'text' as const, text: 'x'.repeat(1_000) })),
    ],
  ])('stays without one when the model answers with %s, and nobody asks again', async (_what, answer) => {
    const core = await given(answer);
    const sessionId = await core.create();

    await core.turn(sessionId, 'a');
    await settled();
    await core.turn(sessionId, 'b');
    await settled();

    expect(core.requests('title')).toHaveLength(1);
    expect(await titleOf(core, sessionId)).toBeNull();
    expect(core.story(sessionId)).not.toContain('session.updated');
    expect(core.fatal).toEqual([]);
  });
});

describe('a request for a title that hangs', () => {
  test('holds up no prompt and takes no place of a turn, and ends after half a minute', async () => {
    const core = await given([{ kind: 'hang' }], { maxConcurrentTurns: 1 });
    const [sessionId, other] = [await core.create(), await core.create({ title: 'Other' })];

    await core.turn(sessionId, 'a');
    await core.turn(sessionId, 'b');
    expect((await core.turn(other, 'a')).outcome).toBe('completed');
    await core.clock.advance(30_000);
    await settled();

    expect(await titleOf(core, sessionId)).toBeNull();
    const lines = core.logger.lines.filter(({ message }) => message === 'no title was made');
    expect(lines).toMatchObject([{ level: 'info', fields: { sessionId, reason: 'aborted' } }]);
  });

  test('is aborted by a stop, which does not wait for it', async () => {
    const core = await given(gated);
    const sessionId = await core.create();
    await core.turn(sessionId, 'a');
    await core.model.reached('title');

    await core.gateway.drain(60_000, new AbortController().signal);
    core.model.release('title');
    await settled();

    expect(await titleOf(core, sessionId)).toBeNull();
  });

  test('leaves room for others: two at once, and the rest one after the other', async () => {
    const core = await given(gated);
    const sessions = await Promise.all(Array.from({ length: 5 }, () => core.create()));
    for (const sessionId of sessions) await core.turn(sessionId, 'a');
    await settled();
    expect(core.requests('title')).toHaveLength(2);

    core.model.release('title');
    for (const sessionId of sessions) await titled(core, sessionId);

    expect(core.requests('title')).toHaveLength(5);
  });
});

describe('while a title is made', () => {
  async function making(): Promise<{ core: MemoryGateway; sessionId: string }> {
    const core = await given(gated);
    const sessionId = await core.create();
    await core.turn(sessionId, 'a');
    await core.model.reached('title');
    return { core, sessionId };
  }

  test('somebody may give another, which stays', async () => {
    const { core, sessionId } = await making();
    const changes = { title: 'Mine' };
    done(await core.sessions.send(sessionId, { kind: 'update', changes, revision: null, by: 'local' }));

    core.model.release('title');
    await settled();

    expect(await titleOf(core, sessionId)).toBe('Mine');
    expect((await core.state(sessionId)).revision).toBe(2);
  });

  test('the session may be deleted, and stays deleted', async () => {
    const { core, sessionId } = await making();
    done(await core.sessions.send(sessionId, { kind: 'delete', by: 'local' }));

    core.model.release('title');
    await settled();

    expect(core.story(sessionId).at(-1)).toBe('session.deleted');
    expect(core.fatal).toEqual([]);
  });

  test('the process may be killed: the next one asks after its own first answer', async () => {
    const { core, sessionId } = await making();
    const next = await MemoryGateway.started({
      store: core.store,
      model: titling(textAnswer('Walking home')),
      titles: { target: null },
    });
    core.model.release('title');
    await settled();
    expect(await titleOf(next, sessionId)).toBeNull();

    await next.turn(sessionId, 'b');
    await titled(next, sessionId);

    expect(await titleOf(next, sessionId)).toBe('Walking home');
  });
});

test('a secret that the gateway holds is neither sent for a title nor part of one', async () => {
  const core = await given(textAnswer('About hunter2!'), { mask: (text) => text.replaceAll('hunter2!', '[masked]') });
  const sessionId = await core.create();
  await core.turn(sessionId, 'a', 'the password is hunter2!');
  await titled(core, sessionId);

  expect(JSON.stringify(core.requests('title'))).not.toContain('hunter2');
  expect(await titleOf(core, sessionId)).toBe('About [masked]');
});
