import type { Admission } from '../../../core/domain/admission/admission.ts';
import type { AdmissionKey } from '../../../core/domain/session/commands.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import type {
  AppendRequest,
  AppendResult,
  CompressionKey,
  CompressionRecord,
  CreatedSession,
  LearntWindow,
  Ledger,
  Ownership,
  StoredPayload,
  OwnedSession,
} from '../../../core/ports/ledger.ts';
import type { MemoryStore } from './memory-store.ts';

/**
 * The ledger of `--ephemeral`, of tests and of the simulator. It keeps every promise of the port except for one that
 * memory can't keep: a store lives as long as its process.
 *
 * No call is answered in the tick in which it was made, and calls take effect in the order in which they were made:
 * each waits for the same single microtask. So code that only works with an immediate answer fails here first.
 */
export class MemoryLedger implements Ledger {
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  async takeOwnership(): Promise<Ownership> {
    await nextMicrotask;
    return this.#store.takeOwnership();
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    await nextMicrotask;
    return this.#store.append(request);
  }

  async load(sessionId: string): Promise<SessionState | null> {
    await nextMicrotask;
    return this.#store.load(sessionId);
  }

  async sessionOf(transcriptId: string): Promise<OwnedSession | null> {
    await nextMicrotask;
    return this.#store.ownedSession(transcriptId);
  }

  async findCreated(key: { readonly principalId: string; readonly requestId: string }): Promise<CreatedSession | null> {
    await nextMicrotask;
    return this.#store.findCreated(key);
  }

  async findAdmission(sessionId: string, key: AdmissionKey): Promise<Admission | null> {
    await nextMicrotask;
    return this.#store.findAdmission(sessionId, key);
  }

  async readPayload(admissionId: string): Promise<StoredPayload | null> {
    await nextMicrotask;
    return this.#store.payload(admissionId);
  }

  async readTranscript(transcriptId: string, afterId: number): Promise<readonly Message[]> {
    await nextMicrotask;
    return this.#store.transcriptPage(transcriptId, afterId);
  }

  async unfinished(): Promise<readonly string[]> {
    await nextMicrotask;
    const states = [...this.#store.unfinished()];
    return states.sort((a, b) => oldestOpenSeq(a) - oldestOpenSeq(b)).map((state) => state.sessionId);
  }

  async learntWindows(): Promise<readonly LearntWindow[]> {
    await nextMicrotask;
    return this.#store.learntWindows();
  }

  async findCompression(key: CompressionKey): Promise<CompressionRecord | null> {
    await nextMicrotask;
    return this.#store.findCompression(key);
  }
}

const nextMicrotask = Promise.resolve();

/** A session where only a compression or a hold is open has nobody who waits, so it comes last. */
function oldestOpenSeq(state: SessionState): number {
  return Math.min(...state.open.map((admission) => admission.seq), Number.MAX_SAFE_INTEGER);
}
