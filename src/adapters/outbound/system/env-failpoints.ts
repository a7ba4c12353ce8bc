import { noFailpoints, type Failpoints } from '../../../core/ports/failpoints.ts';

/** What happens at a place. The configuration reads the rules from HOLDFAST_FAILPOINTS. */
export interface FailpointRule {
  /** A name as the core calls it; `*` stands for any run of characters. */
  readonly pattern: string;
  readonly action: FailpointAction;
  /** Only the n-th hit of this rule, counted from 1. Null: every hit. */
  readonly onHit: number | null;
}

type FailpointAction =
  { readonly kind: 'kill' } | { readonly kind: 'throw' } | { readonly kind: 'delay'; readonly ms: number };

/** What `throw` throws. */
export class FailpointError extends Error {
  override readonly name = 'FailpointError';
}

/** Failpoints that HOLDFAST_FAILPOINTS arms. Every rule that fits a name acts, in the order in which they are written. */
export class EnvFailpoints implements Failpoints {
  readonly #rules: readonly ArmedRule[];
  readonly #kill: () => void;

  constructor(rules: readonly FailpointRule[], { kill = killThisProcess }: { readonly kill?: () => void } = {}) {
    this.#rules = rules.map(({ pattern, action, onHit }) => ({ matches: matcherOf(pattern), action, onHit, hits: 0 }));
    this.#kill = kill;
  }

  hit(name: string): Promise<void> | void {
    const actions = this.#rules.filter((rule) => fires(rule, name)).map(({ action }) => action);
    // What needs no time is done before this returns, so that nothing else runs between the place and the kill.
    if (actions.every(({ kind }) => kind !== 'delay')) for (const action of actions) this.#actNow(action, name);
    else return this.#actInTurn(actions, name);
  }

  #actNow(action: FailpointAction, name: string): void {
    if (action.kind === 'kill') this.#kill();
    if (action.kind === 'throw') throw new FailpointError(`failpoint ${name}`);
  }

  async #actInTurn(actions: readonly FailpointAction[], name: string): Promise<void> {
    for (const action of actions) {
      if (action.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, action.ms));
      else this.#actNow(action, name);
    }
  }
}

/** Without a rule nothing is armed, and a hit costs a function call. */
export function makeFailpoints(rules: readonly FailpointRule[]): Failpoints {
  return rules.length === 0 ? noFailpoints : new EnvFailpoints(rules);
}

interface ArmedRule {
  readonly matches: (name: string) => boolean;
  readonly action: FailpointAction;
  readonly onHit: number | null;
  hits: number;
}

function fires(rule: ArmedRule, name: string): boolean {
  if (!rule.matches(name)) return false;
  rule.hits += 1;
  return rule.onHit === null || rule.onHit === rule.hits;
}

function matcherOf(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.]/g, '\\.'));
  const expression = new RegExp(`^${parts.join('.*')}$`);
  return (name) => expression.test(name);
}

/** Ends the process as an operator's kill -9 would, in the middle of this call. */
function killThisProcess(): void {
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before or during this wait; nothing of it may run on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
