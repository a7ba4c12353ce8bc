import type { Daemon } from '../../support/daemon.ts';
import type { DaemonLog } from '../../support/daemon-log.ts';
import type { Bookkeeper } from '../books/bookkeeper.ts';
import type { BookedPrompt, BookedSession } from '../books/books.ts';
import { promptText } from '../books/prompt-text.ts';
import type { Wish } from '../books/prompt-text.ts';
import type { Witness } from '../books/witness.ts';
import type { BeginningName } from './home-copies.ts';
import { triggerText } from './home-copies.ts';

/** What a scenario has at hand. Every call may be cut short by the death of the daemon. */
export interface Act {
  readonly client: Bookkeeper;
  readonly witness: Witness;
  readonly daemon: Daemon;
  readonly log: DaemonLog;
  /** Waits for something that may never come when the daemon dies. */
  readonly unlessDead: <T>(what: Promise<T>) => Promise<T>;
}

export interface Scenario {
  readonly name: string;
  readonly from: BeginningName;
  readonly compresses: boolean;
  readonly drainSeconds?: number;
  /** Set up before the daemon starts. */
  readonly summaries?: Witness['summaries'];
  /** What a client does from the start on; null: the start itself is what may die. */
  readonly act: ((act: Act) => Promise<void>) | null;
  /** The places at which the daemon dies in every run of the tests: `name`, or `name@n` for the n-th time it is passed. */
  readonly points: readonly string[];
  /** The places at which something is thrown, as a bug would. */
  readonly bugs?: readonly string[];
  /** How an unknown turn that it leaves behind is resolved. */
  readonly onUnknown?: 'discard' | 'retry';
}

const commit = (command: string, nth = ''): readonly string[] =>
  ['before_commit', 'after_commit', 'after_publish'].map((place) => `${command}.${place}${nth}`);
const request = (kind: 'model' | 'summary', nth = ''): readonly string[] =>
  ['before_send', 'first_event', 'after_answer'].map((place) => `${kind}.${place}${nth}`);
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
      const first = await ask(client, session, 'p1', 'park');
      await unlessDead(witness.arrived('s1.p1'));
      for (const name of ['p2', 'p3']) await ask(client, session, name);
      witness.openGate();
      await ended(client, session, first);
    },
  },
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
    ],
    act: async ({ client }) => {
      const session = await knownSession(client);
      await ask(client, session, 'p4', 'overflow', promptText('s1.p4', 'overflow'));
      await ask(client, session, 'p5');
      await allEnded(client, session);
    },
  },
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

async function newSession(client: Bookkeeper): Promise<BookedSession> {
  const session = await client.create('s1');
  await client.follow(session);
  return session;
}

async function knownSession(client: Bookkeeper): Promise<BookedSession> {
  const session = client.books.session('s1');
  await client.follow(session);
  return session;
}

async function ask(
  client: Bookkeeper,
  session: BookedSession,
  name: string,
  wish: Wish = 'plain',
  text = promptText(`${session.name}.${name}`, wish, wish === 'slow' ? 1 : 0),
): Promise<BookedPrompt> {
  const refused = await client.submit(session, name, text);
  if (refused !== null) throw new Error(`${name} was refused as ${refused.refused}`);
  return client.books.asking(session, name, text);
}

async function ended(client: Bookkeeper, session: BookedSession, prompt: BookedPrompt): Promise<void> {
  await client.settled(session, prompt);
}

async function allEnded(client: Bookkeeper, session: BookedSession): Promise<void> {
  for (const prompt of session.prompts.values()) await client.settled(session, prompt);
}

async function resolveFirst(client: Bookkeeper, session: BookedSession, action: 'discard' | 'retry'): Promise<void> {
  const [first] = session.prompts.values();
  if (first === undefined) throw new Error('the session has no prompt');
  await client.receipt(session, first);
  await client.resolve(session, first, action);
  await allEnded(client, session);
}
