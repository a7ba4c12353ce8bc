import type { AppendRequest, AppendResult, Ledger } from '../../src/core/ports/ledger.ts';

type Call = Exclude<keyof Ledger, 'append'>;

/**
 * A ledger in front of another one that keeps every append that was asked for, and on which a test can make trouble:
 * let calls fail, answer in their place, or make them wait. Without trouble it only passes calls on.
 */
export class TroubledLedger implements Ledger {
  readonly appends: AppendRequest[] = [];
  readonly #inner: Ledger;
  readonly #troubles: { readonly call: keyof Ledger; readonly cause: () => unknown }[] = [];

  constructor(inner: Ledger) {
    this.#inner = inner;
  }

  /** The next calls fail with these errors, one each. */
  failNext(call: keyof Ledger, ...errors: readonly Error[]): void {
    for (const error of errors) {
      this.#troubles.push({
        call,
        cause: () => {
          throw error;
        },
      });
    }
  }

  /** The next append is not made; it gets this answer. */
  answerNext(result: AppendResult): void {
    this.#troubles.push({ call: 'append', cause: () => result });
  }

  /** Before the next such call is made, this is done and waited for. */
  beforeNext(call: keyof Ledger, doThis: () => Promise<unknown>): void {
    this.#troubles.push({ call, cause: async () => void (await doThis()) });
  }

  takeOwnership: Ledger['takeOwnership'] = (owner) => this.#inner.takeOwnership(owner);

  async append(request: AppendRequest): Promise<AppendResult> {
    this.appends.push(request);
    const instead = (await this.#trouble('append')) as AppendResult | undefined; // what `answerNext` was given
    return instead ?? this.#inner.append(request);
  }

  load: Ledger['load'] = (...args) => this.#pass('load', () => this.#inner.load(...args));
  sessionOf: Ledger['sessionOf'] = (...args) => this.#pass('sessionOf', () => this.#inner.sessionOf(...args));
  findCreated: Ledger['findCreated'] = (...args) => this.#pass('findCreated', () => this.#inner.findCreated(...args));
  findAdmission: Ledger['findAdmission'] = (...args) =>
    this.#pass('findAdmission', () => this.#inner.findAdmission(...args));
  readPayload: Ledger['readPayload'] = (...args) => this.#pass('readPayload', () => this.#inner.readPayload(...args));
  readTranscript: Ledger['readTranscript'] = (...args) =>
    this.#pass('readTranscript', () => this.#inner.readTranscript(...args));
  unfinished: Ledger['unfinished'] = () => this.#pass('unfinished', () => this.#inner.unfinished());
  learntWindows: Ledger['learntWindows'] = () => this.#pass('learntWindows', () => this.#inner.learntWindows());
  findCompression: Ledger['findCompression'] = (...args) =>
    this.#pass('findCompression', () => this.#inner.findCompression(...args));

  async #pass<T>(call: Call, pass: () => Promise<T>): Promise<T> {
    await this.#trouble(call);
    return pass();
  }

  #trouble(call: keyof Ledger): unknown {
    const index = this.#troubles.findIndex((trouble) => trouble.call === call);
    if (index < 0) return undefined;
    return this.#troubles.splice(index, 1)[0]?.cause();
  }
}
