import type { Admission } from '../../../core/domain/admission/admission.ts';
import type { AdmissionKey } from '../../../core/domain/session/commands.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import { StorageError } from '../../../core/ports/ledger.ts';
import type {
  AppendRequest,
  AppendResult,
  CompressionKey,
  CompressionRecord,
  CreatedSession,
  OwnedSession,
  LearntWindow,
  Ledger,
  Ownership,
  StoredPayload,
} from '../../../core/ports/ledger.ts';
import { AppendQueue } from './append-queue.ts';
import type { CommitBatch } from './append-queue.ts';
import type { FailStop } from './fail-stop.ts';
import type { ReadCall } from './reads.ts';

export interface LedgerConnections {
  readonly appendBatch: CommitBatch;
  readonly takeOwnership: (owner: { readonly instanceId: string; readonly now: string }) => Promise<Ownership>;
  readonly read: ReadCall;
  /** Whoever makes `read` watches it with this; the ledger watches the rest. */
  readonly failStop: FailStop;
}

/**
 * The ledger over a SQLite file. Where the file is read and written, in this thread or in others, is the affair of its
 * connections.
 *
 * After the first `io` or `corrupt`, be it of a read, it takes no more appends (Q3 of the queue): who can't trust the
 * storage must not go on writing.
 */
export class SqliteLedger implements Ledger {
  readonly #connections: LedgerConnections;
  readonly #appends: AppendQueue;

  constructor(connections: LedgerConnections) {
    this.#connections = connections;
    this.#appends = new AppendQueue(connections.appendBatch);
    connections.failStop.onFailure((error) => this.#appends.breakOff(error));
  }

  takeOwnership(owner: { readonly instanceId: string; readonly now: string }): Promise<Ownership> {
    return this.#connections.failStop.watch(this.#connections.takeOwnership(owner));
  }

  append(request: AppendRequest): Promise<AppendResult> {
    return this.#connections.failStop.watch(this.#appends.append(request));
  }

  load(sessionId: string): Promise<SessionState | null> {
    return this.#connections.read('load', sessionId);
  }

  sessionOf(transcriptId: string): Promise<OwnedSession | null> {
    return this.#connections.read('sessionOf', transcriptId);
  }

  findCreated(key: { readonly principalId: string; readonly requestId: string }): Promise<CreatedSession | null> {
    return this.#connections.read('findCreated', key);
  }

  findAdmission(sessionId: string, key: AdmissionKey): Promise<Admission | null> {
    return this.#connections.read('findAdmission', sessionId, key);
  }

  readPayload(admissionId: string): Promise<StoredPayload | null> {
    return this.#connections.read('readPayload', admissionId);
  }

  readTranscript(transcriptId: string, afterId: number): Promise<readonly Message[]> {
    return this.#connections.read('readTranscript', transcriptId, afterId);
  }

  unfinished(): Promise<readonly string[]> {
    return this.#connections.read('unfinished');
  }

  learntWindows(): Promise<readonly LearntWindow[]> {
    return this.#connections.read('learntWindows');
  }

  findCompression(key: CompressionKey): Promise<CompressionRecord | null> {
    return this.#connections.read('findCompression', key);
  }

  /** Resolves when every append that was called has its answer; none is taken from now on. */
  async close(): Promise<void> {
    await this.#appends.drain();
    this.#appends.breakOff(new StorageError('io', 'The store is closed'));
  }
}
