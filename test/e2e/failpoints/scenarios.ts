import { promptText } from '../books/prompt-text.ts';
import { allEnded, ask, commit, ended, knownSession, newSession, request, resolveFirst } from './acts.ts';
import type { Scenario } from './acts.ts';
import { triggerText } from './home-copies.ts';
import { lifeScenarios } from './life-scenarios.ts';
import { toolScenarios } from './tool-scenarios.ts';

const recoveryPoints = ['recovery.before', ...commit('recover'), 'recovery.session', 'recovery.after'];

export const scenarios: readonly Scenario[] = [
  {
    name: 'a fresh prompt',
    from: 'nothing',
    compresses: false,
    points: [...commit('create'), ...commit('submit'), ...commit('claim'), ...request('model'), ...commit('settle')],
    bugs: [
      'create.after_commit',
      'submit.before_commit',
      'submit.after_commit',
      'claim.after_commit',
      'model.before_send',
      'settle.before_commit',
      'settle.after_publish',
    ],
    act: async ({ client }) => {
      const session = await newSession(client);
      await ended(client, session, await ask(client, session, 'p1', 'slow'));
    },
  },
  {
    name: 'a queue of followers',
    from: 'nothing',
    compresses: false,
    points: ['submit.after_commit@3', 'settle.after_commit', 'claim.before_commit@2', 'model.first_event@2'],
    act: async ({ client, witness, unlessDead }) => {
      const session = await newSession(client);
      await ask(client, session, 'p1', 'park');
      await unlessDead(witness.arrived('s1.p1'));
      for (const name of ['p2', 'p3']) await ask(client, session, name);
      witness.openGate();
      await allEnded(client, session);
    },
  },
  ...bothForms(
    {
      name: 'a compression before the request',
      from: 'a long session',
      compresses: true,
      bugs: ['summary.before_send', 'rotate.before_commit', 'rotate.after_commit', 'dispatch.after_commit'],
      points: [
        ...commit('start_compression'),
        ...request('summary'),
        ...commit('rotate'),
        ...commit('dispatch'),
        'settle.after_commit',
      ],
      act: async ({ client }) => {
        const session = await knownSession(client);
        await ask(client, session, 'p4', 'plain', triggerText('s1.p4'));
        for (const name of ['p5', 'p6']) await ask(client, session, name);
        await allEnded(client, session);
      },
    },
    {
      name: 'a compression that fails',
      from: 'a long session',
      compresses: true,
      summaries: 'fail',
      points: [...commit('fail_compression')],
      act: async ({ client }) => {
        const session = await knownSession(client);
        await ask(client, session, 'p4', 'plain', triggerText('s1.p4'));
        await ask(client, session, 'p5');
        await allEnded(client, session);
      },
    },
    {
      name: 'a compression after an overflow',
      from: 'a long session',
      compresses: false,
      points: [
        'model.after_answer',
        'rotate.before_commit',
        'rotate.after_commit',
        'model.before_send@2',
        'model.after_answer@2',
        ...commit('learn_window'),
      ],
      act: async ({ client }) => {
        const session = await knownSession(client);
        await ask(client, session, 'p4', 'overflow', promptText('s1.p4', 'overflow'));
        await ask(client, session, 'p5');
        await allEnded(client, session);
      },
    },
  ),
  {
    name: 'a cancel',
    from: 'nothing',
    compresses: false,
    points: [...commit('cancel')],
    act: async ({ client }) => {
      const session = await newSession(client);
      await client.hold(session);
      const prompts = [];
      for (const name of ['p1', 'p2', 'p3']) prompts.push(await ask(client, session, name));
      for (const prompt of prompts.slice(1, 2)) await client.cancel(session, prompt);
      await client.release(session);
      await allEnded(client, session);
    },
  },
  {
    name: 'a hold and its release',
    from: 'nothing',
    compresses: false,
    points: [...commit('hold'), ...commit('release')],
    act: async ({ client }) => {
      const session = await newSession(client);
      await client.hold(session);
      for (const name of ['p1', 'p2']) await ask(client, session, name);
      await client.release(session);
      await allEnded(client, session);
    },
  },
  {
    name: 'an interrupt',
    from: 'nothing',
    compresses: false,
    points: [...commit('interrupt'), 'settle.after_commit'],
    act: async ({ client, witness, unlessDead }) => {
      const session = await newSession(client);
      const first = await ask(client, session, 'p1', 'park');
      await ask(client, session, 'p2');
      await unlessDead(witness.arrived('s1.p1'));
      await client.interrupt(session, first);
      await allEnded(client, session);
    },
  },
  {
    name: 'an interrupt of a compression',
    from: 'a long session',
    compresses: true,
    summaries: 'park',
    points: ['interrupt.after_commit', 'fail_compression.after_commit', 'settle.before_commit'],
    act: async ({ client, witness, unlessDead }) => {
      const session = await knownSession(client);
      const first = await ask(client, session, 'p4', 'plain', triggerText('s1.p4'));
      await ask(client, session, 'p5', 'plain', triggerText('s1.p5'));
      await unlessDead(witness.arrived('summary'));
      await client.interrupt(session, first);
      witness.openGate();
      await allEnded(client, session);
    },
  },
  {
    name: 'a discarded turn',
    from: 'a lost turn',
    compresses: false,
    points: [...commit('resolve_unknown')],
    act: async ({ client, witness }) => {
      witness.openGate();
      await resolveFirst(client, await knownSession(client), 'discard');
    },
  },
  {
    name: 'a turn that is tried again',
    from: 'a lost turn',
    compresses: false,
    onUnknown: 'retry',
    points: ['resolve_unknown.after_commit', 'settle.before_commit'],
    act: async ({ client, witness }) => {
      witness.openGate();
      await resolveFirst(client, await knownSession(client), 'retry');
    },
  },
  {
    name: 'a turn that asks for a tool',
    from: 'nothing',
    compresses: false,
    points: [...commit('append'), 'model.first_event@2'],
    act: async ({ client }) => {
      const session = await newSession(client);
      for (const [name, wish] of [
        ['p1', 'tool'],
        ['p2', 'plain'],
      ] as const)
        await ask(client, session, name, wish);
      await allEnded(client, session);
    },
  },
  {
    name: 'a shutdown that interrupts',
    from: 'nothing',
    compresses: false,
    points: ['interrupt.after_commit', 'settle.before_commit', 'settle.after_commit'],
    act: async ({ client, witness, daemon, unlessDead }) => {
      const session = await newSession(client);
      await ask(client, session, 'p1', 'park');
      await ask(client, session, 'p2');
      await unlessDead(witness.arrived('s1.p1'));
      await daemon.kill('SIGTERM');
    },
  },
  {
    name: 'a shutdown that waits',
    from: 'nothing',
    compresses: false,
    drainSeconds: 3600,
    points: ['settle.before_commit', 'settle.after_publish'],
    act: async ({ client, witness, daemon, log, unlessDead }) => {
      const session = await newSession(client);
      await ask(client, session, 'p1', 'park');
      await ask(client, session, 'p2');
      await unlessDead(witness.arrived('s1.p1'));
      daemon.child.kill('SIGTERM');
      await unlessDead(log.line('draining'));
      witness.openGate();
      await daemon.exited;
    },
  },
  ...lifeScenarios,
  ...toolScenarios,
  {
    name: 'the recovery of a lost turn',
    from: 'a lost turn',
    compresses: false,
    act: null,
    points: recoveryPoints,
    bugs: ['recovery.before', 'recover.after_commit', 'recovery.after'],
  },
  {
    name: 'the recovery of a lost start',
    from: 'a lost start',
    compresses: true,
    act: null,
    points: ['recover.before_commit', 'recover.after_commit', 'recovery.after'],
  },
];

/** A compression makes a child transcript, or works in place. */
function bothForms(...scenarios: readonly Scenario[]): readonly Scenario[] {
  const inPlace = scenarios.map((scenario) => ({ ...scenario, name: `${scenario.name}, in place`, inPlace: true }));
  return [...scenarios, ...inPlace];
}
