import { expect } from 'vitest';
import { Daemon, TestHome, connect } from '../../support/daemon.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { JourneyModel, answerTo, summaryText } from './journey-model.ts';
import { readStore } from './store.ts';
import type { AdmissionRow, StoreRows } from './store.ts';

export interface Receipt {
  readonly admission_id: string;
  readonly session_id: string;
  readonly input_id: string;
  readonly sequence: number;
  readonly ahead: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly execution_generation: number | null;
  readonly duplicate: boolean;
  readonly blocked_by: readonly string[];
}

/** The configuration of the journey; a test overrides what it is about. */
function journeyConfig(model: JourneyModel, compression: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    model: { provider: 'custom', default: 'journey-model', base_url: model.server.url, context_length: 64_000 },
    compression: {
      enabled: true,
      protect_first_n: 1,
      protect_last_n: 2,
      threshold: 0.8,
      threshold_tokens: 12_000,
      ...compression,
    },
    shutdown: { drain_seconds: 0.2 },
  };
}

/** A model, a home and the daemon on it, with the means to lose and replace each process. */
export class Journey {
  readonly model: JourneyModel;
  readonly home: TestHome;
  #daemon: Daemon | null = null;
  #client: RawClient | null = null;

  private constructor(model: JourneyModel, home: TestHome) {
    this.model = model;
    this.home = home;
  }

  static async begin(compression: Readonly<Record<string, unknown>> = {}): Promise<Journey> {
    const model = await JourneyModel.start();
    return new Journey(model, new TestHome(journeyConfig(model, compression)));
  }

  get daemon(): Daemon {
    if (this.#daemon === null) throw new Error('the daemon is not started');
    return this.#daemon;
  }

  get client(): RawClient {
    if (this.#client === null) throw new Error('no client is connected');
    return this.#client;
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#daemon = await Daemon.start(this.home, environment);
    this.#client = await connect(this.home);
  }

  /** Starts the daemon and connects nobody. */
  async startAlone(): Promise<void> {
    this.#daemon = await Daemon.start(this.home);
  }

  async connect(): Promise<RawClient> {
    this.#client = await connect(this.home);
    return this.#client;
  }

  async end(): Promise<void> {
    this.model.gate.open();
    this.#client?.close();
    if (this.#daemon?.child.exitCode === null) await this.#daemon.kill('SIGKILL');
    await this.model.close();
    this.home.remove();
  }

  async createSession(): Promise<string> {
    const { session_id } = await this.client.call<{ session_id: string }>('session.create', { source: 'test' });
    return session_id;
  }

  submit(session_id: string, text: string, input_id = text): Promise<Receipt> {
    return this.client.call<Receipt>('prompt.submit', { session_id, input_id, text });
  }

  receipt(session_id: string, input_id: string): Promise<Receipt> {
    return this.client.call<Receipt>('prompt.receipt', { session_id, input_id });
  }

  /** Waits until the prompt has ended (or its fate is unknown) and answers its receipt. */
  settled(session_id: string, input_id: string): Promise<Receipt> {
    return this.client.call<Receipt>('prompt.wait', { session_id, input_id, timeout_ms: 30_000 });
  }

  /** Fills the transcript with long answers until the next prompt needs a compression. */
  async pressure(session_id: string, turns = 3): Promise<void> {
    for (let turn = 1; turn <= turns; turn += 1) {
      const text = `pressure ${String(turn)}`;
      await this.submit(session_id, text);
      expect(await this.settled(session_id, text)).toMatchObject({ status: 'terminal', outcome: 'completed' });
    }
  }

  store(): StoreRows {
    return readStore(this.home);
  }
}

/** A prompt of 4,000 characters: with three answers of 15,000 it passes the trigger. Its name comes first. */
export function longPrompt(name: string): string {
  return `${name} |${' more words'.repeat(365)}`.slice(0, 4000);
}

/** What makes an admission the same one for ever. */
export function identityOf(row: AdmissionRow | undefined): unknown {
  if (row === undefined) throw new Error('no such admission');
  const { seq, admission_id, request_id, target_session_id, position, request_digest, payload_digest } = row;
  return { seq, admission_id, request_id, target_session_id, position, request_digest, payload_digest };
}

export function admissionOf(store: StoreRows, inputId: string): AdmissionRow {
  const row = store.admissions.find(({ request_id }) => request_id === inputId);
  if (row === undefined) throw new Error(`no admission ${inputId}`);
  return row;
}

/** The chain of a session's transcripts, root to tip, with what closed each. */
export function lineageOf(store: StoreRows, sessionId: string): readonly unknown[] {
  return store.sessions
    .filter(({ root_session_id }) => root_session_id === sessionId)
    .map(({ id, parent_session_id, end_reason }) => ({ id, parent_session_id, end_reason }));
}

/** Checks what every session of the store must look like at rest, whatever happened before. */
export function expectSoundStore(store: StoreRows): void {
  for (const root of store.sessions.filter(({ id, root_session_id }) => id === root_session_id)) {
    const chain = store.sessions.filter(({ root_session_id }) => root_session_id === root.id);
    const open = chain.filter(({ ended_at }) => ended_at === null);
    expect(open.map(({ id }) => id)).toEqual([chain.at(-1)?.id]);
    for (const [index, transcript] of chain.entries()) {
      expect(transcript.parent_session_id).toBe(index === 0 ? null : chain[index - 1]?.id);
      expect(transcript.end_reason).toBe(index === chain.length - 1 ? null : 'compression');
    }
    const seqs = store.events.filter(({ session_id }) => session_id === root.id).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  }
  expect(store.admissions.map(({ seq }) => seq)).toEqual(
    store.admissions.map(({ seq }) => seq).toSorted((a, b) => a - b),
  );
}

/** Checks that a follower's request was made on the compressed transcript: the summary, and nothing of the middle. */
export function expectCompressed(journey: Journey, prompt: string): void {
  const content = JSON.stringify(journey.model.requestFor(prompt).messages);
  expect(content).toContain(summaryText);
  expect(content).not.toContain(answerTo('pressure 1', 40));
  expect(content).not.toContain(answerTo('pressure 2', 40));
}
