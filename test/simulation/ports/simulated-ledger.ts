import type { StorageError } from '../../../src/core/ports/ledger.ts';
import type { AppendRequest, AppendResult, Ledger, Ownership } from '../../../src/core/ports/ledger.ts';
import type { Owner, World } from '../world/world.ts';
import type { CoreUnderTest } from '../core-under-test.ts';
import type { Disk, Write, Written } from './disk.ts';

/** Hears what a ledger answers, before its caller does. */
export interface LedgerObserver {
  asked(request: AppendRequest): void;
  committed(request: AppendRequest): void;
  refused(kind: string): void;
}

/**
 * The ledger of one process: a writer with a queue, that syncs what it has written, and reads on the durable image.
 * Each call takes effect at one moment and is answered at a later one.
 *
 * L1: appends take effect in the order of their calls.
 * L2: an append is answered, whatever the answer, after the sync that covers everything written before it.
 * L3: after a failed sync this process writes nothing more.
 */
export class SimulatedLedger implements Ledger {
  readonly #world: World;
  readonly #owner: Owner;
  readonly #disk: Disk;
  readonly #core: CoreUnderTest;
  readonly #observer: LedgerObserver;
  readonly #calls: WriteCall[] = [];
  #unanswered: { readonly call: WriteCall; readonly written: Written }[] = [];
  #broken = false;

  constructor(deps: { world: World; owner: Owner; disk: Disk; core: CoreUnderTest; observer: LedgerObserver }) {
    this.#world = deps.world;
    this.#owner = deps.owner;
    this.#disk = deps.disk;
    this.#core = deps.core;
    this.#observer = deps.observer;
  }

  async takeOwnership(): Promise<Ownership> {
    const written = await this.#write('take ownership', { kind: 'ownership' });
    if (!('ownership' in written)) throw new Error('an ownership was asked for');
    return written.ownership;
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    this.#observer.asked(request);
    const types = request.events.map(({ type }) => type).join(' ');
    const written = await this.#write(`append ${request.sessionId} ${request.expectedSeq} ${types}`, {
      kind: 'append',
      request,
    });
    if (!('result' in written)) throw new Error('an append was asked for');
    return written.result;
  }

  load: Ledger['load'] = (sessionId) => this.#read(`load ${sessionId}`, () => this.#disk.durable.load(sessionId));

  sessionOf: Ledger['sessionOf'] = (transcriptId) =>
    this.#read(`session of ${transcriptId}`, () => this.#disk.durable.ownedSession(transcriptId));

  findCreated: Ledger['findCreated'] = (key) =>
    this.#read(`find created ${key.requestId}`, () => this.#disk.durable.findCreated(key));

  findAdmission: Ledger['findAdmission'] = (sessionId, key) =>
    this.#read(`find admission of ${sessionId}`, () => this.#disk.durable.findAdmission(sessionId, key));

  readPayload: Ledger['readPayload'] = (admissionId) =>
    this.#read(`read payload ${admissionId}`, () => this.#disk.durable.payload(admissionId));

  readTranscript: Ledger['readTranscript'] = (transcriptId, afterId) =>
    this.#read(`read transcript ${transcriptId} ${afterId}`, () =>
      this.#disk.durable.transcriptPage(transcriptId, afterId),
    );

  unfinished: Ledger['unfinished'] = () =>
    this.#read('unfinished', () => {
      const oldest = (open: readonly { readonly seq: number }[]): number =>
        Math.min(...open.map(({ seq }) => seq), Number.MAX_SAFE_INTEGER);
      const states = [...this.#disk.durable.unfinished()].sort((a, b) => oldest(a.open) - oldest(b.open));
      return states.map(({ sessionId }) => sessionId);
    });

  learntWindows: Ledger['learntWindows'] = () => this.#read('learnt windows', () => this.#disk.durable.learntWindows());

  findCompression: Ledger['findCompression'] = (key) =>
    this.#read(`find compression ${key.requestId}`, () => this.#disk.durable.findCompression(key));

  #read<T>(label: string, read: () => T): Promise<T> {
    return this.#world.call(this.#owner, label, () => {
      const fault = this.#world.decisions.fault('read_fails', 3);
      if (fault !== 0) throw this.#error(fault === 1 ? 'busy' : 'io', 'the read failed');
      return read();
    });
  }

  #write(label: string, write: Write): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ label, write, resolve, reject });
      this.#world.add(this.#owner, `${label} ✎`, () => this.#writeNext());
    });
  }

  #writeNext(): void {
    const call = this.#calls.shift();
    if (call === undefined) return;
    if (this.#broken) {
      this.#fail(call, 'io', 'the storage has failed before');
      return;
    }
    const fault = this.#world.decisions.fault('storage_full', 3);
    if (fault !== 0) {
      this.#fail(call, fault === 1 ? 'full' : 'busy', 'nothing was written');
      return;
    }
    let written: Written;
    try {
      written = this.#disk.write(this.#owner, call.write);
    } catch (error) {
      this.#answer(call, '↩ broken', () => call.reject(error as Error)); // the store throws errors only
      return;
    }
    this.#unanswered.push({ call, written });
    if (this.#unanswered.length === 1) this.#world.add(this.#owner, 'sync', () => this.#sync());
  }

  #sync(): void {
    const answered = this.#unanswered;
    this.#unanswered = [];
    if (this.#disk.unsyncedCount > 0 && this.#world.decisions.fault('sync_fails', 2) !== 0) {
      this.#broken = true;
      this.#disk.failSync(this.#owner);
      for (const { call } of answered) this.#fail(call, 'io', 'the sync failed');
      return;
    }
    this.#disk.sync();
    for (const { call, written } of answered) {
      this.#answer(call, '↩', () => {
        this.#tell(call, written);
        call.resolve(written);
      });
    }
  }

  #tell(call: WriteCall, written: Written): void {
    if (!('result' in written) || call.write.kind !== 'append') return;
    if (written.result.kind === 'committed') this.#observer.committed(call.write.request);
    else this.#observer.refused(written.result.kind);
  }

  #fail(call: WriteCall, kind: StorageError['kind'], message: string): void {
    this.#answer(call, `↩ ${kind}`, () => call.reject(this.#error(kind, message)));
  }

  #answer(call: WriteCall, outcome: string, answer: () => void): void {
    this.#world.add(this.#owner, `${call.label} ${outcome}`, answer);
  }

  #error(kind: StorageError['kind'], message: string): StorageError {
    return new this.#core.StorageError(kind, message);
  }
}

interface WriteCall {
  readonly label: string;
  readonly write: Write;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: Error) => void;
}
