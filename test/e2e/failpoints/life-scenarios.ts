import { promptText, steerMark } from '../books/prompt-text.ts';
import { allEnded, ask, commit, knownSession, newSession, request } from './acts.ts';
import type { Scenario } from './acts.ts';

/** What a client does with its queue and with a session as a whole, beside prompts that run. */
export const lifeScenarios: readonly Scenario[] = [
  {
    name: 'an edit',
    from: 'nothing',
    compresses: false,
    points: [...commit('edit')],
    act: async ({ client }) => {
      const session = await newSession(client);
      await client.hold(session);
      const prompts = [];
      for (const name of ['p1', 'p2']) prompts.push(await ask(client, session, name));
      for (const prompt of prompts.slice(1)) {
        await client.edit(session, prompt, promptText(`s1.${prompt.inputId}`, 'long', 300, 'as it was meant'));
      }
      await client.release(session);
      await allEnded(client, session);
    },
  },
  {
    name: 'a move',
    from: 'nothing',
    compresses: false,
    points: [...commit('move')],
    act: async ({ client }) => {
      const session = await newSession(client);
      await client.hold(session);
      const prompts = [];
      for (const name of ['p1', 'p2', 'p3']) prompts.push(await ask(client, session, name));
      for (const prompt of prompts.slice(2)) await client.moveFirst(session, prompt, prompts.slice(0, 2));
      await client.release(session);
      await allEnded(client, session);
    },
  },
  {
    name: 'an update',
    from: 'a long session',
    compresses: false,
    points: [...commit('update')],
    act: async ({ client }) => {
      const session = await knownSession(client);
      await client.rename(session, 'What it is about');
      await ask(client, session, 'p4');
      await allEnded(client, session);
    },
  },
  {
    name: 'a deletion',
    from: 'a long session',
    compresses: false,
    points: [...commit('delete')],
    bugs: ['delete.after_commit'],
    act: async ({ client }) => {
      const session = await knownSession(client);
      await client.remove(session);
      await client.expectGone(session);
    },
  },
  {
    name: 'a fork',
    from: 'a long session',
    compresses: false,
    points: [...commit('create')],
    act: async ({ client }) => {
      const origin = await knownSession(client);
      const ids = await client.messageIds(origin);
      // Behind the second answer.
      const fork = await client.fork(origin, ids[3] ?? 0, 's1-fork');
      await client.follow(fork);
      await ask(client, fork, 'p1');
      await allEnded(client, fork);
    },
  },
  {
    name: 'a fork whose origin is deleted',
    from: 'a long session',
    compresses: false,
    points: ['delete.after_commit', 'claim.after_commit'],
    act: async ({ client }) => {
      const origin = await knownSession(client);
      const ids = await client.messageIds(origin);
      const fork = await client.fork(origin, ids[3] ?? 0, 's1-fork');
      await ask(client, fork, 'p1');
      await allEnded(client, fork);
      await client.remove(origin);
      await ask(client, fork, 'p2');
      await allEnded(client, fork);
    },
  },
  {
    name: 'a prompt for the turn that runs',
    from: 'nothing',
    compresses: false,
    points: [...commit('steer'), ...commit('merge_steers')],
    act: async ({ client, witness, unlessDead }) => {
      const session = await newSession(client);
      const turn = await ask(client, session, 'p1', 'parktool');
      await unlessDead(witness.arrived('s1.p1'));
      await client.receipt(session, turn);
      await client.steer(session, 'p2', `${steerMark}be brief.`, turn.generation ?? 0);
      witness.openGate();
      await allEnded(client, session);
    },
  },
  ...[false, true].map((inPlace): Scenario => ({
    name: `a compression by hand${inPlace ? ' in place' : ''}`,
    from: 'a long session',
    compresses: false,
    inPlace,
    points: [...commit('compress_by_hand'), ...request('summary'), ...commit('rotate')],
    bugs: ['rotate.before_commit', 'rotate.after_commit'],
    act: async ({ client }) => {
      const session = await knownSession(client);
      await client.compress(session, 'by-hand');
      await ask(client, session, 'p4');
      await allEnded(client, session);
    },
  })),
  ...[false, true].map((inPlace): Scenario => ({
    name: `a compression by hand${inPlace ? ' in place' : ''} that fails`,
    from: 'a long session',
    compresses: false,
    inPlace,
    summaries: 'fail',
    points: [...commit('fail_compression')],
    act: async ({ client }) => {
      const session = await knownSession(client);
      await client.compress(session, 'by-hand');
      await ask(client, session, 'p4');
      await allEnded(client, session);
    },
  })),
];
