import { describe, expect, it, vi } from 'vitest';
import { textAnswer, toolCallAnswer } from '../../support/loopback-model/answers.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

describe('what goes on beside a turn', () => {
  it('a session gets its title after its first answer, by one request, and a kill loses no more than the title', async () => {
    const stage = await Stage.begin();
    const isTitle = (messages: unknown): boolean => JSON.stringify(messages).includes('Write the title now.');
    let titles = 0;
    stage.model.answerWith(async (call) => {
      if (!isTitle(call.request.body?.messages)) return textAnswer('Go to the sea.')(call);
      titles += 1;
      // The first request is still unanswered when its process is killed.
      return titles === 1 ? call.closed : textAnswer('"A trip to the sea."')(call);
    });
    const home = stage.home({ auxiliary: { title_generation: { enabled: true } } });
    const first = await stage.start(home);
    const client = await stage.connect(home);
    const session_id = await createSession(client);
    await submit(client, session_id, 'Where shall I go?', 'a');
    expect(await settled(client, session_id, 'a')).toMatchObject({ outcome: 'completed' });
    await submit(client, session_id, 'And then?', 'b');
    expect(await settled(client, session_id, 'b')).toMatchObject({ outcome: 'completed' });
    await vi.waitFor(() => expect(titles).toBe(1), { timeout: 10_000 });
    await first.daemon.kill('SIGKILL');

    await stage.start(home);
    const again = await stage.connect(home);
    await submit(again, session_id, 'And home?', 'c');
    await settled(again, session_id, 'c');

    await vi.waitFor(
      async () => {
        expect(await again.call('session.get', { session_id })).toMatchObject({ title: 'A trip to the sea' });
      },
      { timeout: 10_000, interval: 50 },
    );
    expect(titles).toBe(2);
  });

  it('a model looks something up in the history of its own session', async () => {
    const stage = await Stage.begin();
    stage.model.answerWith(async (call) => {
      const messages = call.request.body?.messages ?? [];
      const asks = String(messages.at(-1)?.content).startsWith('Which animal');
      if (!asks) return textAnswer('Noted.')(call);
      const lookUp = { id: 'call-1', name: 'search_history', arguments: { query: 'animal secret' } };
      return toolCallAnswer([lookUp])(call);
    });
    const home = stage.home({ toolsets: { look: ['builtin.search_history'] }, platform_toolsets: { test: ['look'] } });
    await stage.start(home);
    const client = await stage.connect(home);
    const session_id = await createSession(client);
    await submit(client, session_id, 'The secret animal is a zebra.', 'a');
    await settled(client, session_id, 'a');

    await submit(client, session_id, 'Which animal was it?', 'b');
    expect(await settled(client, session_id, 'b')).toMatchObject({ outcome: 'completed' });

    const results = stage.model.chats.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^Message 1, user, .*:\nThe secret animal is a zebra\.$/) as string,
    ]);
  });
});
