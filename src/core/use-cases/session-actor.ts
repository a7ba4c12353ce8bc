/*
 * The live form of one session: it takes the commands that wait, decides them in order on a tentative state, and
 * appends their events as one append. Its border: it knows nothing of turns, models or sockets, and it is the only
 * writer of its session in this process.
 *
 * I1: nothing changes the state but the events of a committed append.
 * I2: listeners hear of a commit, and callers are answered, only after it (P1, P5).
 * I3: commands are decided in the order in which they came, also when a round must be decided again.
 * I4: when the storage is full or busy, clients are refused and the work of turns is tried again (DESIGN section 5).
 * I5: when it is unknown whether an append took effect, nothing more is decided: the process must stop.
 * I6: a round is bounded by its content too, and what can't be stored in one piece is refused alone.
 */
import type { Admission } from '../domain/admission/admission.ts';
import { findOpen, hasKey } from '../domain/admission/find.ts';
import { invariant } from '../domain/invariant.ts';
import type { AdmissionKey, Command, CommandKind, ReplyOf, SessionCommand } from '../domain/session/commands.ts';
import { decide } from '../domain/session/decide.ts';
import type { Decision } from '../domain/session/decide.ts';
import type { DecideContext } from '../domain/session/decision.ts';
import { endedAdmissions, evolve } from '../domain/session/evolve.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { AppendResult, Ledger } from '../ports/ledger.ts';
import { StorageError } from '../ports/ledger.ts';
import type { FatalCause } from './fatal-cause.ts';
import type { Numbering } from './numbering.ts';
import type { CommitListener, Sent } from './sessions.ts';
import { roundLength } from './round-length.ts';
import {
  giveUp,
  isPersistent,
  keyOf,
  refuse,
  sentOf,
  tell,
  tellOfKey,
  unavailable,
  withEnded,
} from './waiting-command.ts';
import type { DecidedRound, Waiting } from './waiting-command.ts';
import { WorkRetries } from './work-retries.ts';

export interface ActorDependencies {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly numbering: Numbering;
  /** What a decision depends on at this moment, beside numbers and time. */
  readonly circumstances: () => Pick<DecideContext, 'epoch' | 'draining' | 'limits'>;
  readonly onCommit: CommitListener;
  /** `retrying`: work of the session is tried again, because the storage did not take it; `ok`: that has an end. */
  readonly onStorage: (sessionId: string, health: 'ok' | 'retrying') => void;
  /** The process must stop: it can't know what the store holds, it is no longer the owner, or it has a bug. */
  readonly onFatal: (cause: FatalCause) => void;
}

/** How often a round is decided anew because of other writers before that counts as a bug. */
const maxRounds = 1000;

export class SessionActor {
  readonly #sessionId: string;
  readonly #deps: ActorDependencies;
  readonly #mailbox: Waiting[] = [];
  #state: SessionState | null | undefined;
  #pumping = false;
  #working: Promise<void> = Promise.resolve();
  readonly #retries: WorkRetries;
  #halted = false;
  /** So many of the commands that wait were too large together. */
  #alone = 0;

  constructor(sessionId: string, deps: ActorDependencies) {
    this.#sessionId = sessionId;
    this.#deps = deps;
    this.#retries = new WorkRetries(deps.clock, (health) => deps.onStorage(sessionId, health));
  }

  /** Whether nothing waits: an idle actor may be forgotten and made again from the ledger. */
  get idle(): boolean {
    return this.#mailbox.length === 0 && !this.#pumping;
  }

  /** The committed state, as far as it has been loaded. */
  get loaded(): SessionState | null {
    return this.#state ?? null;
  }

  async state(): Promise<SessionState | null> {
    await this.#load();
    // A session that is just being made is in the store before this actor hears of it.
    if (this.#state === null && this.#pumping) await this.#working;
    return this.#state ?? null;
  }

  async #load(): Promise<void> {
    if (this.#state !== undefined) return;
    const loaded = await this.#deps.ledger.load(this.#sessionId);
    // A command that was decided meanwhile has loaded it too and may have gone on.
    if (this.#state === undefined) this.#state = loaded;
  }

  send<K extends CommandKind>(command: Command<K>): Promise<Sent<ReplyOf<K>>> {
    return new Promise((resolve) => {
      const answer = resolve as (sent: Sent<unknown>) => void; // the reply of a `K` command is a ReplyOf<K>
      if (this.#halted) {
        answer(unavailable(true));
        return;
      }
      this.#mailbox.push({ command: command as SessionCommand, answer }); // Command<K> is a member of the union
      if (!this.#pumping) this.#pump();
    });
  }

  /** From now on nothing is decided, and whoever waits is told so. An append that is under way ends as it ends. */
  halt(): void {
    this.#halted = true;
    giveUp(this.#mailbox.splice(0));
  }

  #pump(): void {
    this.#pumping = true;
    this.#working = this.#work();
  }

  /** It never rejects: what goes wrong ends in an answer to everybody who waits. */
  async #work(): Promise<void> {
    // One microtask, so that commands sent in the same turn of the event loop share an append.
    await Promise.resolve();
    while (this.#mailbox.length > 0 && !this.#halted) {
      const length = this.#alone > 0 ? 1 : roundLength(this.#mailbox);
      this.#alone = Math.max(0, this.#alone - 1);
      const batch = this.#mailbox.splice(0, length);
      try {
        await this.#load();
        await this.#process(batch);
      } catch (error) {
        await this.#roundFailed(error, batch);
      }
    }
    // In the same step as the last look at the mailbox, so that a command can't fall between the two.
    this.#pumping = false;
  }

  async #process(batch: readonly Waiting[]): Promise<void> {
    for (let round = 0; round < maxRounds; round += 1) {
      if (this.#halted) return giveUp(batch);
      const plan = this.#decideAll(batch);
      if (plan.kind === 'needs_known') {
        await this.#readKnown(batch, plan.keys);
        continue;
      }
      const end = plan.events.length === 0 ? 'committed' : await this.#append(batch, plan);
      if (end === 'again') continue;
      // What a halted actor still hears of says nothing of what it has given up.
      if (!this.#halted) this.#retries.over();
      if (end === 'committed') {
        for (const [index, waiting] of batch.entries()) waiting.answer(sentOf(plan.decisions[index]));
      }
      return;
    }
    invariant(false, 'a round of commands is decided in the end');
  }

  /** Appends a round. `again`: the state or what is known has changed; `answered`: nothing is left to be said. */
  async #append(batch: readonly Waiting[], plan: DecidedRound): Promise<'committed' | 'again' | 'answered'> {
    const { ledger, circumstances } = this.#deps;
    const { epoch } = circumstances();
    const expectedSeq = this.#state?.seq ?? 0;
    const kinds = plan.decisions.flatMap((decision, index) =>
      decision.kind === 'accepted' && decision.events.length > 0 ? [batch[index]?.command.kind ?? ''] : [],
    );
    await this.#pass(kinds, 'before_commit');
    const result = await ledger.append({ sessionId: this.#sessionId, expectedSeq, epoch, events: plan.events });
    if (result.kind !== 'committed') return this.#refusedByLedger(batch, result);
    await this.#pass(kinds, 'after_commit');
    this.#state = plan.state;
    if (plan.state !== null) this.#deps.onCommit(this.#sessionId, plan.state, plan.events);
    await this.#pass(kinds, 'after_publish');
    return 'committed';
  }

  /** Passes the failpoints of a round. Without an armed one it takes no turn of the event loop, so order is kept. */
  async #pass(kinds: readonly string[], place: string): Promise<void> {
    for (const kind of kinds) {
      const pause = this.#deps.failpoints.hit(`${kind}.${place}`);
      if (pause !== undefined) await pause;
    }
  }

  #refusedByLedger(
    batch: readonly Waiting[],
    result: Exclude<AppendResult, { kind: 'committed' }>,
  ): 'again' | 'answered' {
    switch (result.kind) {
      case 'stale':
        invariant(result.events.length > 0, 'a stale append is told what it missed');
        this.#state = result.events.reduce<SessionState | null>(evolve, this.#state ?? null);
        if (this.#state !== null) this.#deps.onCommit(this.#sessionId, this.#state, result.events);
        return 'again';
      case 'duplicate':
        for (const admission of result.admissions) tell(batch, admission, (key) => hasKey(admission, key));
        return 'again';
      case 'request_taken':
        refuse(batch, { reason: 'request_conflict', sessionId: result.created.sessionId });
        return 'answered';
      case 'content_gone':
        refuse(batch, { reason: 'not_found', what: 'session' });
        return 'answered';
      case 'stale_epoch':
        this.#fail({ kind: 'superseded', epoch: result.epoch }, batch);
        return 'answered';
    }
  }

  #decideAll(batch: readonly Waiting[]): DecidedRound | { kind: 'needs_known'; keys: readonly AdmissionKey[] } {
    const { numbering, clock, circumstances } = this.#deps;
    const context = { ...circumstances(), now: clock.now() };
    const events: SessionEvent[] = [];
    const decisions: Decision<unknown>[] = [];
    const keys: AdmissionKey[] = [];
    const numbers = numbering.begin();
    let state = this.#state ?? null;
    const ended: Admission[] = [];
    for (const waiting of batch) {
      const command = withEnded(waiting.command, ended);
      const decision = decide(this.#sessionId, state, command, { ...context, ...numbers.next() });
      decisions.push(decision);
      if (decision.kind === 'needs_known') keys.push(decision.key);
      if (decision.kind !== 'accepted') continue;
      if (state !== null) ended.push(...endedAdmissions(state, decision.events));
      state = decision.state;
      events.push(...decision.events);
      numbers.use(decision.events);
    }
    if (keys.length > 0) return { kind: 'needs_known', keys };
    numbers.keep();
    return { kind: 'decided', decisions, events, state };
  }

  async #readKnown(batch: readonly Waiting[], keys: readonly AdmissionKey[]): Promise<void> {
    const { ledger } = this.#deps;
    for (const key of keys) {
      const admission = await ledger.findAdmission(this.#sessionId, key);
      // Another owner has admitted it: what is decided on a state without it would contradict the log.
      if (admission !== null && this.#lacks(admission)) this.#state = await ledger.load(this.#sessionId);
      tellOfKey(batch, key, admission);
    }
  }

  #lacks({ admissionId, status }: Admission): boolean {
    return status !== 'terminal' && (!this.#state || findOpen(this.#state, { admissionId }) === undefined);
  }

  async #roundFailed(error: unknown, batch: readonly Waiting[]): Promise<void> {
    try {
      if (!(error instanceof StorageError)) throw error;
      await this.#storageFailed(error, batch);
    } catch (bug) {
      this.#fail({ kind: 'bug', error: bug }, batch);
    }
  }

  async #storageFailed(error: StorageError, batch: readonly Waiting[]): Promise<void> {
    if (error.outcomeUnknown) {
      this.#fail({ kind: 'storage', error }, batch);
      return;
    }
    if (error.kind === 'too_large') return this.#tooLarge(batch);
    const persistent = batch.filter(({ command }) => isPersistent[command.kind]);
    for (const waiting of batch) {
      if (!isPersistent[waiting.command.kind]) waiting.answer(await this.#answerWithoutAppend(waiting));
    }
    if (persistent.length === 0) return;
    if (this.#halted) return giveUp(persistent);
    this.#mailbox.unshift(...persistent);
    await this.#retries.pause();
  }

  /** Whose command it is shows when each is decided alone. A turn's is refused as well: a later try is no better. */
  #tooLarge(batch: readonly Waiting[]): void {
    if (batch.length === 1) return refuse(batch, { reason: 'too_large' });
    if (this.#halted) return giveUp(batch);
    this.#mailbox.unshift(...batch);
    this.#alone = batch.length;
  }

  /** What needs no append is answered all the same, on what is stored: a known id has its receipt in every state (P2). */
  async #answerWithoutAppend(waiting: Waiting): Promise<Sent<unknown>> {
    try {
      await this.#load();
      const { command } = waiting;
      if ('known' in command && command.known === undefined) await this.#readKnown([waiting], [keyOf(command)]);
    } catch (error) {
      if (error instanceof StorageError) return unavailable(false);
      throw error;
    }
    const plan = this.#decideAll([waiting]);
    const isAnswer = plan.kind === 'decided' && plan.events.length === 0;
    return isAnswer ? sentOf(plan.decisions[0]) : unavailable(false);
  }

  #fail(cause: FatalCause, batch: readonly Waiting[]): void {
    giveUp(batch);
    this.halt();
    this.#deps.onFatal(cause);
  }
}
