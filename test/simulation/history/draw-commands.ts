import type { Random } from '../world/random.ts';
import { forkCount, keyCount } from './commands.ts';
import type { Command } from './commands.ts';

/** A list of commands: the sessions first, then whatever the weights say. */
export function drawCommands(random: Random, sessions: number, length: number): readonly Command[] {
  const weights = drawWeights(random);
  const commands: Command[] = [];
  for (let session = 0; session < sessions; session += 1) {
    commands.push({ do: 'create', client: session % 2, session, variant: 0 });
  }
  let nextKey = 0;
  while (commands.length < length) {
    const client = random.weighted({ 0: 6, 1: 4, 2: 1 });
    const isOfFork = weights.fork > 0 && random.chance(0.12);
    const session = isOfFork ? sessions + random.below(forkCount) : random.below(sessions);
    const command = drawCommand(random, random.weighted(weights), Number(client), session, nextKey);
    if (command.do === 'submit') nextKey = (nextKey + 1) % keyCount;
    commands.push(command);
  }
  return commands;
}

/** Every kind of command with its usual weight. Each history leaves some out and stresses others. */
const usualWeights = {
  create: 1,
  submit: 40,
  repeat: 8,
  change: 3,
  cancel: 6,
  steer: 16,
  receipt: 3,
  interrupt: 8,
  resolve: 9,
  respond: 14,
  compress: 3,
  edit: 7,
  move: 7,
  update: 4,
  delete: 2,
  fork: 3,
  history: 2,
  lineage: 1,
  search: 1,
  hold: 2,
  release: 3,
  subscribe: 4,
  resume: 5,
  disconnect: 3,
  status: 1,
  drain: 1,
  wait: 3,
  jump: 1,
};
type Kind = keyof typeof usualWeights;

/** What changes or reads whole sessions. Most faults of turns are found sooner without it, so it is in every other history. */
const ofSessions: ReadonlySet<Kind> = new Set<Kind>([
  'edit',
  'move',
  'update',
  'delete',
  'fork',
  'history',
  'lineage',
  'search',
]);

function drawWeights(random: Random): Record<Kind, number> {
  const weights = { ...usualWeights };
  const withSessions = random.chance(0.5);
  for (const kind of Object.keys(weights) as Kind[]) {
    // The keys of the record.
    const stress = random.oneOf([0, 1, 1, 1, 1, 3]);
    if (ofSessions.has(kind) && !withSessions) weights[kind] = 0;
    else if (kind !== 'submit') weights[kind] *= stress;
  }
  return weights;
}

function drawCommand(random: Random, kind: Kind, client: number, session: number, nextKey: number): Command {
  const to = { client, session };
  const anyKey = random.below(keyCount);
  switch (kind) {
    case 'create':
      return { do: 'create', ...to, variant: random.below(2) };
    case 'submit':
      return submit(random, to, nextKey, 0);
    case 'repeat':
      return submit(random, to, Math.max(0, nextKey - 1 - random.below(3)), 0);
    case 'change':
      return submit(random, to, anyKey, 1);
    case 'cancel':
      return {
        do: 'cancel',
        ...to,
        key: anyKey,
        steer: random.chance(0.3),
        revision: random.below(3),
        twice: random.chance(0.3),
      };
    case 'steer':
      return {
        do: 'steer',
        ...to,
        key: random.below(4 * keyCount),
        ifOver: random.oneOf(['cancel', 'queue']),
        offset: random.oneOf([0, 0, 0, 0, 0, -1, 1]),
        connection: random.below(2),
        twice: random.chance(0.15),
      };
    case 'receipt':
      return { do: 'receipt', ...to, key: anyKey };
    case 'interrupt':
      return { do: 'interrupt', ...to, offset: random.oneOf([0, 0, 0, -1, 1]) };
    case 'resolve':
      return {
        do: 'resolve',
        ...to,
        action: random.oneOf(['discard', 'retry', 'retry']),
        target: random.below(4),
        offset: random.oneOf([0, 0, 0, 0, -1]),
        twice: random.chance(0.2),
      };
    case 'respond':
      return {
        do: 'respond',
        ...to,
        answer: random.oneOf(['approve', 'approve', 'deny']),
        target: random.oneOf([0, 0, 0, 1, 1, 2, 3, 4]),
        twice: random.chance(0.3),
      };
    case 'compress':
      return {
        do: 'compress',
        ...to,
        key: random.below(5),
        variant: random.oneOf([0, 0, 0, 0, 1]),
        twice: random.chance(0.3),
      };
    case 'edit':
      return {
        do: 'edit',
        ...to,
        key: anyKey,
        steer: random.chance(0.15),
        variant: random.below(3),
        revision: random.oneOf([0, 0, 1, 1, 2]),
        twice: random.chance(0.2),
      };
    case 'move':
      return {
        do: 'move',
        ...to,
        key: anyKey,
        steer: random.chance(0.15),
        to: random.oneOf(['first', 'last', 'before', 'before']),
        other: anyKey + 1 + random.below(4),
        revision: random.oneOf([0, 0, 1, 2]),
        times: random.oneOf([1, 1, 1, 1, 1, 24]),
        twice: random.chance(0.2),
      };
    case 'update':
      return {
        do: 'update',
        ...to,
        change: random.oneOf(['title', 'title', 'model', 'model', 'archived', 'pinned', 'everything']),
        value: random.below(3),
        revision: random.oneOf([0, 1, 1, 2]),
        twice: random.chance(0.3),
      };
    case 'delete':
      return { do: 'delete', ...to, patience: random.oneOf([0, 0, 60]), twice: random.chance(0.3) };
    case 'fork':
      return {
        do: 'fork',
        ...to,
        key: random.below(forkCount),
        message: random.below(40),
        twice: random.chance(0.3),
      };
    case 'history':
      return { do: 'history', ...to, forward: random.chance(0.5), limit: random.oneOf([1, 2, 5, 100]) };
    case 'lineage':
      return { do: 'lineage', ...to };
    case 'search':
      return {
        do: 'search',
        ...to,
        key: anyKey,
        everywhere: random.chance(0.4),
        limit: random.oneOf([1, 2, 100]),
      };
    case 'hold':
      return { do: 'hold', ...to, seconds: random.oneOf([null, null, 5, 500]) };
    case 'release':
      return { do: 'release', ...to };
    case 'subscribe':
    case 'resume':
      return { do: kind, ...to, connection: random.below(2) };
    case 'disconnect':
      return { do: 'disconnect', client, connection: random.below(2) };
    case 'status':
      return { do: 'status', client };
    case 'drain':
      return { do: 'drain', drainMs: random.oneOf([0, 100, 10_000]), hurry: random.chance(0.2) };
    case 'wait':
      return { do: 'wait', seconds: random.oneOf([1, 70, 400, 1000]) };
    case 'jump':
      return { do: 'jump', seconds: random.oneOf([-3600, -5, 30, 86_400]) };
  }
}

function submit(
  random: Random,
  to: { readonly client: number; readonly session: number },
  key: number,
  variant: number,
): Command {
  return {
    do: 'submit',
    ...to,
    key,
    variant,
    connection: random.below(2),
    twice: random.chance(0.08),
    byTip: random.chance(0.15),
    vanishes: random.chance(0.1),
  };
}
