import { setTimeout as pause } from 'node:timers/promises';
import { Daemon, TestHome } from '../../support/daemon.ts';
import { audit, auditAtRest } from '../books/audit.ts';
import { errorsIn } from '../books/errors-in.ts';
import { Bookkeeper, ConnectionLost } from '../books/bookkeeper.ts';
import { Books } from '../books/books.ts';
import { finish } from '../books/finish.ts';
import { readRows } from '../books/rows.ts';
import type { Rows } from '../books/rows.ts';
import { WitnessServer } from '../books/witness.ts';
import type { Witness } from '../books/witness.ts';
import { Patron } from './patron.ts';
import { Random } from './random.ts';

export interface CampaignOptions {
  readonly kills: number;
  /** It fixes what the patrons do; the instants of the kills are the machine's own affair. */
  readonly seed: number;
  readonly sessions: number;
  readonly sockets: number;
  /** Look at the file of the dead process after every so many kills. */
  readonly auditEvery: number;
  readonly onKill?: (kill: { readonly number: number; readonly served: boolean; readonly calls: number }) => void;
}

export interface Summary {
  readonly kills: number;
  readonly killsWhileStarting: number;
  readonly calls: number;
  readonly findings: readonly string[];
  readonly rows: Rows;
  readonly witness: Witness;
  readonly books: Books;
}

/** The longest that a daemon serves, and the longest that a start may take before it is killed, in milliseconds. */
const longestServiceMs = 1200;
const longestStartMs = 2500;
const shareOfStarts = 0.2;

/** Kills a daemon again and again while clients work with it, then lets them finish, and audits. */
export async function runCampaign(options: CampaignOptions): Promise<Summary> {
  const server = await WitnessServer.start();
  const campaign = new Campaign(server, options);
  try {
    return await campaign.run();
  } finally {
    await campaign.end();
    await server.close();
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #random: Random;
  readonly #witness: Witness;
  readonly #home: TestHome;
  readonly #books = new Books();
  readonly #findings: string[] = [];
  #daemon: Daemon | null = null;
  #killsWhileStarting = 0;
  #calls = 0;

  constructor(server: WitnessServer, options: CampaignOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#witness = server.witness('key-of-a-campaign');
    this.#home = new TestHome({
      model: { provider: 'custom', default: 'witness-model', base_url: server.url, context_length: 64_000 },
      compression: { protect_first_n: 1, protect_last_n: 4, threshold_tokens: 2500 },
      shutdown: { drain_seconds: 0.2 },
    });
    for (let number = 1; number <= options.sessions; number += 1) this.#books.session(`s${String(number)}`);
  }

  async run(): Promise<Summary> {
    const { kills, auditEvery, onKill } = this.#options;
    for (let number = 1; number <= kills && this.#findings.length === 0; number += 1) {
      const served = await this.#oneLife();
      onKill?.({ number, served, calls: this.#calls });
      if (number % auditEvery === 0) this.#findings.push(...audit(this.#evidence()));
    }
    await this.#finish();
    this.#findings.push(...auditAtRest(this.#evidence()));
    await this.#kill();
    return {
      kills,
      killsWhileStarting: this.#killsWhileStarting,
      calls: this.#calls,
      findings: this.#findings,
      ...this.#evidence(),
    };
  }

  async end(): Promise<void> {
    await this.#kill();
    this.#home.remove();
  }

  /** Starts a daemon and kills it: while it starts, or while the patrons are at work. True when it served. */
  async #oneLife(): Promise<boolean> {
    const daemon = Daemon.spawn(this.#home, { OPENAI_API_KEY: this.#witness.key });
    this.#daemon = daemon;
    const served = this.#random.next() >= shareOfStarts && (await this.#becomesReady(daemon));
    if (!served) {
      this.#killsWhileStarting += 1;
      await pause(this.#random.below(longestStartMs));
      await this.#kill();
      return false;
    }
    const work = this.#work();
    await pause(this.#random.below(longestServiceMs));
    await this.#kill();
    await work;
    return true;
  }

  async #becomesReady(daemon: Daemon): Promise<boolean> {
    await daemon.ready(this.#home);
    return true;
  }

  async #work(): Promise<void> {
    const { sockets } = this.#options;
    const all = [...this.#books.sessions.values()];
    await Promise.all(
      Array.from({ length: sockets }, async (_, index) => {
        try {
          const client = await Bookkeeper.connect(this.#books, this.#home);
          const own = all.filter((_session, number) => number % sockets === index);
          const patron = new Patron(client, { all, own }, new Random(this.#random.below(2 ** 32)));
          await patron.workUntilLost();
          this.#calls += patron.calls;
        } catch (error) {
          if (!(error instanceof ConnectionLost)) throw error;
        }
      }),
    );
  }

  async #finish(): Promise<void> {
    this.#daemon = await Daemon.start(this.#home, { OPENAI_API_KEY: this.#witness.key });
    const client = await Bookkeeper.connect(this.#books, this.#home);
    await finish(client);
    client.close();
  }

  async #kill(): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === null) return;
    this.#daemon = null;
    const exit = await daemon.kill('SIGKILL');
    if (exit.signal !== 'SIGKILL')
      this.#findings.push(`a daemon ended by itself with ${String(exit.code)}: ${daemon.output.slice(-2000)}`);
    this.#findings.push(...errorsIn(daemon.output));
  }

  #evidence(): Pick<Summary, 'books' | 'rows' | 'witness'> {
    return { books: this.#books, rows: readRows(this.#home), witness: this.#witness };
  }
}
