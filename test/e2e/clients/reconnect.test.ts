import { describe, expect, it } from 'vitest';
import { makeGate, parked, textAnswer } from '../../support/loopback-model/answers.ts';
import type { RawClient, WireEvent } from '../../support/raw-client.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';
import type { Receipt } from '../stage.ts';

describe('followers', () => {
  it('run with no client connected, after the sender has gone and after a kill', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const gate = makeGate();
    stage.model.enqueue(parked(gate, textAnswer('first')));
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const text of ['a', 'b', 'c']) await submit(client, session, text);
    await stage.model.waitForRequests(1);
    client.close();
    gate.open();
    await stage.model.waitForRequests(3);

    const again = await stage.connect(home);
    await settled(again, session, 'c');
    await again.call('session.hold', { session_id: session });
    for (const text of ['d', 'e']) await submit(again, session, text);
    await again.call('session.release', { session_id: session });
    await stage.model.waitForRequests(5);
    await settled(again, session, 'e');
    await again.call('session.hold', { session_id: session });
    for (const text of ['f', 'g']) await submit(again, session, text);
    await daemon.kill('SIGKILL');
    await stage.start(home);
    const last = await stage.connect(home);
    await last.call('session.release', { session_id: session });
    last.close();
    await stage.model.waitForRequests(7);

    expect(stage.model.chats.map(({ messages }) => messages.at(-1)?.content)).toEqual([...'abcdefg']);
  });
});

describe('a subscriber that comes back with its cursor', () => {
  it('gets every durable event once and in order, across five kills', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    stage.model.answerWith((call) => {
      const prompt = String(call.request.body?.messages.at(-1)?.content);
      return prompt.startsWith('parked') ? call.closed : textAnswer('an answer')(call);
    });
    const seen: WireEvent[] = [];
    let session = '';

    for (let life = 0; life < 5; life += 1) {
      const { daemon } = await stage.start(home);
      const client = await stage.connect(home);
      if (session === '') session = await createSession(client);
      const ear = await stage.connect(home);
      await ear.call('session.subscribe', { session_id: session, after_seq: seen.at(-1)?.seq ?? 0 });
      await resolveUnknown(client, session);
      for (const name of ['a', 'b']) await submit(client, session, `${name} ${String(life)}`);
      await settled(client, session, `b ${String(life)}`);
      const parkedPrompt = await submit(client, session, `parked ${String(life)}`);
      // The kill falls when the client has seen some of the events of this turn, whichever they are.
      await ear.event(
        ({ type, admission_id }) => type === 'turn.started' && admission_id === parkedPrompt.admission_id,
      );
      await daemon.kill('SIGKILL');
      seen.push(...ear.events.filter(({ seq }) => seq !== undefined));
    }

    await stage.start(home);
    const client = await stage.connect(home);
    const ear = await stage.connect(home);
    const { last_seq } = await ear.call<{ last_seq: number }>('session.subscribe', {
      session_id: session,
      after_seq: seen.at(-1)?.seq ?? 0,
    });
    if ((seen.at(-1)?.seq ?? 0) < last_seq) await ear.event(({ seq }) => seq === last_seq);
    seen.push(...ear.events.filter(({ seq }) => seq !== undefined));

    const logged = readStore(home).events.filter(({ session_id }) => session_id === session);
    expect(seen.map(({ seq, type }) => `${String(seq)} ${type}`)).toEqual(
      logged.map(({ seq, type }) => `${String(seq)} ${type}`),
    );
    const page = await client.call<{ events: WireEvent[] }>('session.events', {
      session_id: session,
      after_seq: 0,
      limit: 500,
    });
    expect(page.events).toEqual(seen);
  });

  it('of another store, or from the future, is told to take a snapshot', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const cursor of [{ after_seq: 0, store_id: 'another' }, { after_seq: 99 }]) {
      for (const method of ['session.subscribe', 'session.events']) {
        const { error } = await client.request(method, { session_id: session, ...cursor });
        expect(error?.data).toMatchObject({ reason: 'snapshot_required' });
      }
    }
  });
});

/** Ends the turn that the last kill left behind. */
async function resolveUnknown(client: RawClient, session: string): Promise<void> {
  const { prompts } = await client.call<{ prompts: Receipt[] }>('prompt.list', { session_id: session });
  for (const { admission_id, execution_generation, status } of prompts) {
    if (status === 'unknown') {
      await client.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });
    }
  }
}
