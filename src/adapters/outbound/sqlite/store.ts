import type Database from 'better-sqlite3';
import { invariant } from '../../../core/domain/invariant.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { AppendRequest, AppendResult, Ownership } from '../../../core/ports/ledger.ts';
import { AdmissionsTable } from './admissions-table.ts';
import { ApprovalsTable } from './approvals-table.ts';
import { CompressionsTable } from './compressions-table.ts';
import { ToolCallsTable } from './tool-calls-table.ts';
import { EpochTable } from './epoch-table.ts';
import { EventsTable } from './events-table.ts';
import { projectEvent } from './event-projection.ts';
import type { ProjectedTables } from './event-projection.ts';
import { LearntWindowsTable } from './learnt-windows-table.ts';
import { MessagesTable } from './messages-table.ts';
import { SessionsTable } from './sessions-table.ts';
import { storageErrorFrom, withStorageErrors } from './storage-errors.ts';

/** What became of one append of a batch. `failed` is a bug of this append and says nothing of the others. */
export type AppendOutcome =
  { readonly kind: 'answered'; readonly result: AppendResult } | { readonly kind: 'failed'; readonly error: unknown };

/**
 * The writing half of the ledger, over one connection and without any waiting.
 *
 * W1: a batch is one transaction, and so one fsync. W2: a refusal is found before the first write of its append, so
 * that it costs the others nothing. W3: an append that breaks a rule is undone alone. W4: when the storage fails,
 * nothing of the batch is kept and the whole call throws a `StorageError`. W5: a transaction that writes has the next
 * commit number; one in which everything is refused writes nothing.
 */
export class SqliteStore {
  readonly #db: Database.Database;
  readonly #epoch: EpochTable;
  readonly #tables: ProjectedTables;
  readonly #events: EventsTable;
  readonly #appendAll: Database.Transaction<(requests: readonly AppendRequest[]) => AppendedBatch>;
  readonly #write: Database.Transaction<(events: readonly SessionEvent[]) => number>;
  #commits: number | null = null;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#epoch = new EpochTable(db);
    this.#tables = {
      sessions: new SessionsTable(db),
      messages: new MessagesTable(db),
      admissions: new AdmissionsTable(db),
      compressions: new CompressionsTable(db),
      toolCalls: new ToolCallsTable(db),
      approvals: new ApprovalsTable(db),
      learntWindows: new LearntWindowsTable(db),
    };
    this.#events = new EventsTable(db, this.#tables);
    this.#appendAll = db.transaction((requests) => {
      const epoch = this.#epoch.current();
      let written = 0;
      const outcomes = requests.map((request) =>
        this.#append(request, epoch, (events) => {
          written += events;
        }),
      );
      const wrote = outcomes.some(isCommitted);
      return { outcomes, commits: wrote ? this.#epoch.countCommit(written) : this.commits };
    });
    // Inside `#appendAll` this transaction is a savepoint (W3).
    this.#write = db.transaction((events) => {
      let more = events.length;
      for (const event of events) {
        if (event.type === 'session.deleted') more -= this.#deleteContent(event.sessionId);
        projectEvent(this.#tables, event);
        this.#events.insert(event);
      }
      return more;
    });
  }

  /** The number of the newest commit. */
  get commits(): number {
    return (this.#commits ??= this.#epoch.commits());
  }

  appendBatch(requests: readonly AppendRequest[]): readonly AppendOutcome[] {
    const { outcomes, commits } = withStorageErrors(() => this.#appendAll.immediate(requests));
    this.#commits = commits;
    return outcomes;
  }

  takeOwnership(owner: { readonly instanceId: string; readonly now: string }): Ownership {
    const take = this.#db.transaction(() => ({
      ...this.#epoch.raise(owner),
      nextMessageId: this.#tables.messages.lastId() + 1,
      nextAdmissionSeq: this.#tables.admissions.lastSeq() + 1,
    }));
    const ownership = withStorageErrors(() => take.immediate());
    this.#commits = this.#epoch.commits();
    return ownership;
  }

  /** Everything of a session that is not its identity; says how many events went with it. */
  #deleteContent(sessionId: string): number {
    const { messages, toolCalls, approvals, compressions, admissions } = this.#tables;
    const ids = this.#events.messagesOf(sessionId);
    toolCalls.delete(ids);
    messages.delete(ids);
    approvals.delete(sessionId);
    compressions.delete(sessionId);
    admissions.forgetPayloads(sessionId);
    return this.#events.delete(sessionId);
  }

  /** `onWritten` hears how many events the log has gained. */
  #append(request: AppendRequest, epoch: number, onWritten: (events: number) => void): AppendOutcome {
    try {
      assertGapless(request);
      const refusal = this.#refusalOf(request, epoch);
      if (refusal !== null) return { kind: 'answered', result: refusal };
      onWritten(this.#write(request.events));
      return { kind: 'answered', result: { kind: 'committed' } };
    } catch (error) {
      const failure = storageErrorFrom(error);
      if (failure !== null) throw failure;
      return { kind: 'failed', error };
    }
  }

  /** In the order that the port promises: epoch, sequence, then what must be unique. */
  #refusalOf({ sessionId, expectedSeq, epoch, events }: AppendRequest, current: number): AppendResult | null {
    invariant(epoch <= current, 'an owner has the epoch that the store gave it');
    if (epoch < current) return { kind: 'stale_epoch', epoch: current };

    const lastSeq = this.#events.lastSeq(sessionId);
    invariant(expectedSeq <= lastSeq, 'nobody knows more events than the store');
    if (expectedSeq < lastSeq) {
      return { kind: 'stale', events: this.#events.after(sessionId, expectedSeq) };
    }
    return this.#takenBy(events) ?? this.#goneFrom(events);
  }

  #takenBy(events: readonly SessionEvent[]): AppendResult | null {
    const admissions = events.flatMap((event) => {
      if (event.type !== 'admission.queued') return [];
      const { sessionId, inputId, principalId } = event.admission;
      return this.#tables.admissions.byKey(sessionId, { inputId, principalId }) ?? [];
    });
    if (admissions.length > 0) return { kind: 'duplicate', admissions };
    for (const event of events) {
      const created = event.type === 'session.created' ? this.#tables.sessions.created(event.profile) : null;
      if (created !== null) return { kind: 'request_taken', created };
    }
    return null;
  }

  #goneFrom(events: readonly SessionEvent[]): AppendResult | null {
    const sources = events.flatMap((event) => (event.type === 'message.appended' ? (event.contentFrom ?? []) : []));
    return this.#tables.messages.areThere(sources) ? null : { kind: 'content_gone' };
  }
}

interface AppendedBatch {
  readonly outcomes: readonly AppendOutcome[];
  readonly commits: number;
}

function isCommitted(outcome: AppendOutcome | undefined): boolean {
  return outcome?.kind === 'answered' && outcome.result.kind === 'committed';
}

function assertGapless({ sessionId, expectedSeq, events }: AppendRequest): void {
  invariant(events.length > 0, 'an append has at least one event');
  for (const [index, event] of events.entries()) {
    invariant(event.sessionId === sessionId, 'an append belongs to one session');
    invariant(event.seq === expectedSeq + index + 1, 'the events of an append follow on without a gap');
  }
}
