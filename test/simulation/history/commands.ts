import type { Random } from '../world/random.ts';

/** What somebody outside does. Targets are small numbers that are made sense of when the command is performed. */
export type Command =
  | { readonly do: 'create'; readonly client: number; readonly session: number; readonly variant: number }
  | {
      readonly do: 'submit';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      /** 0: as always; 1: another text under the same key. */
      readonly variant: number;
      readonly connection: number;
      /** Also on the other connection, at once. */
      readonly twice: boolean;
      /** Addressed by the newest transcript's id. */
      readonly byTip: boolean;
      /** The client goes away before the answer and never asks again. */
      readonly vanishes: boolean;
    }
  /** A prompt for the turn that runs. `offset` is added to the session's generation. */
  | {
      readonly do: 'steer';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly ifOver: 'cancel' | 'queue';
      readonly offset: number;
      readonly connection: number;
      readonly twice: boolean;
    }
  | {
      readonly do: 'cancel';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      /** Of a steer. */
      readonly steer?: boolean;
      readonly revision: number;
      /** Also on the other connection, at once. */
      readonly twice: boolean;
    }
  | { readonly do: 'receipt'; readonly client: number; readonly session: number; readonly key: number }
  /** `offset` is added to the session's generation: 0 hits the running turn, the others come late or too early. */
  | { readonly do: 'interrupt'; readonly client: number; readonly session: number; readonly offset: number }
  | {
      readonly do: 'resolve';
      readonly client: number;
      readonly session: number;
      readonly action: 'discard' | 'retry';
      /** 0: an unknown one if there is one; else one that was resolved or any. */
      readonly target: number;
      readonly offset: number;
      readonly twice: boolean;
    }
  /** Answers a request for approval. */
  | {
      readonly do: 'respond';
      readonly client: number;
      readonly session: number;
      readonly answer: 'approve' | 'deny';
      /** 0 and 1: an open request if there is one; 2: the newest; 3: the oldest; 4: one that nobody has made. */
      readonly target: number;
      readonly twice: boolean;
    }
  /** By hand, under one of a few request ids; `variant` 1 asks for something else under the same id. */
  | {
      readonly do: 'compress';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly variant: number;
      readonly twice: boolean;
    }
  /** For so many seconds, or until somebody releases it. */
  | { readonly do: 'hold'; readonly client: number; readonly session: number; readonly seconds?: number | null }
  | { readonly do: 'release'; readonly client: number; readonly session: number }
  | {
      readonly do: 'subscribe' | 'resume';
      readonly client: number;
      readonly session: number;
      readonly connection: number;
    }
  | { readonly do: 'disconnect'; readonly client: number; readonly connection: number }
  | { readonly do: 'status'; readonly client: number }
  /** A graceful stop, with so many milliseconds for running turns; `hurry` is the second signal. */
  | { readonly do: 'drain'; readonly drainMs: number; readonly hurry: boolean }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'jump'; readonly seconds: number };

export const clientCount = 3;
/** Few keys, so that they meet again. */
const keyCount = 12;

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
    const session = random.below(sessions);
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

function drawWeights(random: Random): Record<Kind, number> {
  const weights = { ...usualWeights };
  for (const kind of Object.keys(weights) as Kind[]) {
    // The keys of the record.
    const stress = random.oneOf([0, 1, 1, 1, 1, 3]);
    if (kind !== 'submit') weights[kind] *= stress;
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
