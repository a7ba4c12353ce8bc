import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { MemoryLedger } from '../../../../src/adapters/outbound/memory/memory-ledger.ts';
import { MemoryStore } from '../../../../src/adapters/outbound/memory/memory-store.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import type { Failpoints } from '../../../../src/core/ports/failpoints.ts';
import { noFailpoints } from '../../../../src/core/ports/failpoints.ts';
import { makeNumbering } from '../../../../src/core/use-cases/numbering.ts';
import { SessionActor } from '../../../../src/core/use-cases/session-actor.ts';
import type { FatalCause } from '../../../../src/core/use-cases/fatal-cause.ts';
import { aProfile, aSessionId } from '../../../support/builders.ts';
import { done, quiet } from '../../../support/memory-gateway.ts';
import { TroubledLedger } from '../../../support/troubled-ledger.ts';

/** An actor on a memory store, with what it tells the world. */
export interface ActorWorld {
  readonly actor: SessionActor;
  readonly ledger: TroubledLedger;
  readonly clock: FakeClock;
  /** Of each commit, in order. */
  readonly commits: (readonly SessionEvent[])[];
  readonly storage: ('ok' | 'retrying')[];
  readonly fatal: FatalCause[];
  /** A second writer of the same owner. Nothing in the program makes one; an owner of a shared store would be one. */
  readonly another: () => ActorWorld;
}

/** With a session that exists, unless `create` is false. */
export async function anActor(
  options: { create?: boolean; store?: MemoryStore; failpoints?: Failpoints } = {},
): Promise<ActorWorld> {
  const store = options.store ?? new MemoryStore('store-1');
  const ownership = await new MemoryLedger(store).takeOwnership();
  const numbering = makeNumbering(ownership);
  const make = (): ActorWorld => {
    const ledger = new TroubledLedger(new MemoryLedger(store));
    const clock = new FakeClock();
    const commits: (readonly SessionEvent[])[] = [];
    const storage: ('ok' | 'retrying')[] = [];
    const fatal: FatalCause[] = [];
    const actor = new SessionActor(aSessionId, {
      ledger,
      clock,
      failpoints: options.failpoints ?? noFailpoints,
      numbering,
      circumstances: () => ({
        epoch: ownership.epoch,
        draining: false,
        limits: { maxQueuedPerSession: 1000, maxLostStarts: 3 },
      }),
      onCommit: (_sessionId, _state, events) => commits.push(events),
      onStorage: (_sessionId, health) => storage.push(health),
      onFatal: (cause) => fatal.push(cause),
    });
    return { actor, ledger, clock, commits, storage, fatal, another: make };
  };
  const world = make();
  if (options.create ?? true) {
    done(await world.actor.send({ kind: 'create', profile: aProfile() }));
    world.commits.length = 0;
    world.ledger.appends.length = 0;
  }
  await quiet();
  return world;
}

export function typesOf(commits: readonly (readonly SessionEvent[])[]): readonly (readonly string[])[] {
  return commits.map((events) => events.map(({ type }) => type));
}
