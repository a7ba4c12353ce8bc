import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FaultyDisk, compileShim } from '../../shim/faulty-disk.ts';
import { Daemon, TestHome } from '../../support/daemon.ts';
import { audit, auditAtRest } from '../books/audit.ts';
import { Bookkeeper } from '../books/bookkeeper.ts';
import { Books } from '../books/books.ts';
import { finish } from '../books/finish.ts';
import { readRows } from '../books/rows.ts';
import { WitnessServer } from '../books/witness.ts';
import type { Witness } from '../books/witness.ts';
import { Patron } from '../random-kills/patron.ts';
import { Random } from '../random-kills/random.ts';

/*
 * A power cut takes what was written and not synced; a kill -9 doesn't (RELIABILITY F20). The shim keeps a copy of each
 * file at its last sync, and the next daemon gets these copies.
 */

const folder = mkdtempSync(join(tmpdir(), 'holdfast-shim-'));
const library = compileShim(folder);
const admissionsAtLeast = 60;

let server: WitnessServer;

beforeAll(async () => {
  server = await WitnessServer.start();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

interface Cut {
  readonly books: Books;
  readonly witness: Witness;
  /** A home with what the power cut has left. */
  readonly left: (keeps?: () => boolean) => TestHome;
}

describe.skipIf(library === null)('a power cut under load (skipped where no C compiler can make the shim)', () => {
  it('loses nothing that was acknowledged, and the next daemon goes on', async () => {
    const { books, witness, left } = await cutUnderLoad('full');
    const home = left();
    expect(audit({ books, witness, rows: readRows(home) })).toEqual([]);

    witness.openGate();
    const daemon = await Daemon.start(home, { OPENAI_API_KEY: witness.key });
    onTestFinished(async () => {
      await daemon.kill('SIGKILL');
    });
    const client = await Bookkeeper.connect(books, home);
    await finish(client);
    client.close();
    expect(auditAtRest({ books, witness, rows: readRows(home) })).toEqual([]);
  });

  it('loses nothing either when any part of what was not synced has reached the disk', async () => {
    const { books, witness, left } = await cutUnderLoad('full');
    const random = new Random(7);
    for (let variant = 1; variant <= 20; variant += 1) {
      const share = random.next();
      const home = left(() => random.next() < share);
      expect({ variant, findings: audit({ books, witness, rows: readRows(home) }) }).toEqual({ variant, findings: [] });
    }
  });

  it('loses acknowledged prompts when storage.synchronous is not full: so the shim does cut the power', async () => {
    const { books, witness, left } = await cutUnderLoad('normal');
    expect(audit({ books, witness, rows: readRows(left()) })).toContainEqual(
      expect.stringMatching(/is lost$/) as string,
    );
  });
});

/** Lets patrons work until enough was admitted, and ends the daemon in the middle of it. */
async function cutUnderLoad(synchronous: 'full' | 'normal'): Promise<Cut> {
  const witness = server.witness(`key-of-a-power-cut-${String(Math.random())}`);
  const config = {
    model: { provider: 'custom', default: 'witness-model', base_url: server.url, context_length: 64_000 },
    compression: { protect_first_n: 1, protect_last_n: 4, threshold_tokens: 2500 },
    storage: { synchronous },
  };
  const home = new TestHome(config);
  const disk = new FaultyDisk(home, library ?? '');
  const homes = [home];
  onTestFinished(() => {
    disk.remove();
    for (const each of homes) each.remove();
  });
  const books = new Books();
  const all = ['s1', 's2', 's3', 's4'].map((name) => books.session(name));
  const environment = { OPENAI_API_KEY: witness.key, ...disk.environment };
  // The tables themselves are made in an earlier life, so that only prompts can be lost in this one.
  await (await Daemon.start(home, environment)).kill('SIGTERM');
  const daemon = await Daemon.start(home, environment);
  const random = new Random(1);
  const work = all.map(async (session) => {
    const client = await Bookkeeper.connect(books, home);
    await new Patron(client, { all, own: [session] }, new Random(random.below(2 ** 32))).workUntilLost();
  });
  await Promise.race([Promise.all(work), books.acknowledged(admissionsAtLeast)]);
  await daemon.kill('SIGKILL');
  await Promise.all(work);
  return {
    books,
    witness,
    left: (keeps) => {
      const left = new TestHome(config);
      homes.push(left);
      disk.cutPower(left, keeps ?? null);
      left.configure(config);
      return left;
    },
  };
}
