import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Journey, expectSoundStore } from '../journey/journey.ts';
import { summaryText } from '../journey/journey-model.ts';
import { runCli } from './run-cli.ts';

interface Entry {
  readonly type: 'message' | 'prompt' | 'compression';
  readonly seq: number;
  readonly text?: string;
  readonly compression_id?: string;
  readonly message?: { readonly id: number; readonly kind: string; readonly text: string };
  readonly summary?: { readonly text: string };
}

interface Page {
  readonly entries: readonly Entry[];
  readonly older_cursor: string | null;
  readonly newer_cursor: string;
  readonly at_end: boolean;
}

interface Found {
  readonly hits: readonly { readonly message_id: number; readonly snippet: string }[];
  readonly behind: boolean;
}

const turns = 8;
const restartsAfter = [3, 6];
/** The key of the home's model, which somebody has pasted into each prompt. */
const secret = 'sk-test-key';
const promptOf = (turn: number): string => `pressure ${String(turn)} | the codeword is zebra${String(turn)} ${secret}`;

describe.each([
  ['rotated', false],
  ['in place', true],
])('the history of a session that was compressed several times and killed in between (%s)', (_how, inPlace) => {
  let journey: Journey;
  let session_id: string;

  beforeEach(async () => {
    journey = await Journey.begin({ in_place: inPlace });
    await journey.start();
    session_id = await journey.createSession();
    for (let turn = 1; turn <= turns; turn += 1) {
      await journey.submit(session_id, promptOf(turn), `input-${String(turn)}`);
      expect(await journey.settled(session_id, `input-${String(turn)}`)).toMatchObject({ outcome: 'completed' });
      if (restartsAfter.includes(turn)) {
        await journey.daemon.kill('SIGKILL');
        await journey.start();
      }
    }
  });

  afterEach(async () => {
    await journey.end();
  });

  const call = <T>(method: string, params: object = {}): Promise<T> =>
    journey.client.call<T>(method, { session_id, ...params });

  async function everyPage(limit: number): Promise<{ ahead: readonly Entry[]; back: readonly Entry[] }> {
    const [ahead, back]: [Entry[], Entry[]] = [[], []];
    for (let after = '0', atEnd = false; !atEnd;) {
      const page: Page = await call('session.history', { after, limit });
      ahead.push(...page.entries);
      [after, atEnd] = [page.newer_cursor, page.at_end];
    }
    for (let before: string | null | undefined = undefined; before !== null;) {
      const page: Page = await call('session.history', before === undefined ? { limit } : { before, limit });
      back.unshift(...page.entries);
      before = page.older_cursor;
    }
    return { ahead, back };
  }

  const search = (query: string): Promise<Found> => call<Found>('session.search', { query });

  it('shows every message once with each border, tells of each compression, and finds what was compressed away', async () => {
    const { ahead, back } = await everyPage(3);
    const { compressions, transcripts } = await call<{
      compressions: readonly { compression_id: string; status: string }[];
      transcripts: readonly { id: string }[];
    }>('session.lineage');

    expect(back).toEqual(ahead);
    const prompts = ahead.flatMap(({ message }) => (message?.kind === 'prompt' ? [message.text] : []));
    expect(prompts).toEqual(Array.from({ length: turns }, (_, index) => promptOf(index + 1)));
    expect(ahead.filter(({ message }) => message?.kind === 'answer')).toHaveLength(turns);
    const borders = ahead.filter(({ type }) => type === 'compression');
    expect(compressions.length).toBeGreaterThan(1);
    expect(borders.map(({ compression_id }) => compression_id)).toEqual(
      compressions.filter(({ status }) => status === 'completed').map(({ compression_id }) => compression_id),
    );
    expect(borders.every(({ summary }) => summary?.text === summaryText)).toBe(true);
    expect(transcripts).toHaveLength(inPlace ? 1 : borders.length + 1);
    for (const { id } of transcripts)
      expect(await call<Page>('session.history', { session_id: id, limit: 3 })).toEqual(
        await call<Page>('session.history', { limit: 3 }),
      );

    const visible = JSON.stringify(await call('session.resume'));
    expect(visible).not.toContain('zebra2');
    const found = await search('zebra2');
    expect(found).toMatchObject({ behind: false, hits: [{ snippet: expect.stringContaining('zebra2') as string }] });
    expectSoundStore(journey.store());
  });

  it('loses no search with its index: a damaged one is made anew and holds up no prompt', async () => {
    expect((await search('zebra1')).hits).toHaveLength(1);
    await journey.daemon.kill('SIGKILL');
    const index = join(journey.home.path, 'search.db');
    writeFileSync(index, Buffer.alloc(statSync(index).size, 'damage'));
    await journey.start();

    await journey.submit(session_id, 'and now a giraffe', 'after');
    expect(await journey.settled(session_id, 'after')).toMatchObject({ outcome: 'completed' });

    await vi.waitFor(
      async () => {
        const [old, fresh] = [await search('zebra1'), await search('giraffe')];
        expect([old.hits.length, old.behind, fresh.hits.length > 0]).toEqual([1, false, true]);
      },
      { timeout: 30_000, interval: 200 },
    );
    expectSoundStore(journey.store());
  });

  it('is exported in both forms, by the command line too', async () => {
    const file = join(journey.home.path, 'session.md');
    const asFile = await runCli(journey.home, ['export', session_id, '--output', file]);
    const again = await runCli(journey.home, ['export', session_id, '--output', file]);
    const asJson = await runCli(journey.home, ['export', session_id, '--json']);
    const lineage = await runCli(journey.home, ['lineage', session_id]);
    const found = await runCli(journey.home, ['search', 'zebra2', '--session', session_id]);

    const { ahead } = await everyPage(100);
    const document = JSON.parse(asJson.stdout) as { entries: readonly { type: string }[] };
    expect(document.entries.map(({ type }) => type)).toEqual(ahead.map(({ type }) => type));
    const markdown = readFileSync(file, 'utf8');
    for (let turn = 1; turn <= turns; turn += 1) expect(markdown).toContain(`the codeword is zebra${String(turn)} `);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect([asFile.code, again.code, asJson.code]).toEqual([0, 2, 0]);
    for (const text of [markdown, asJson.stdout]) expect(text).not.toContain(secret);
    expect(lineage.stdout).toContain(inPlace ? 'in place' : 'goes on in');
    expect(found.stdout).toContain('zebra2');
  });

  it('lives on in a fork when the session is deleted, and known input ids keep their receipt', async () => {
    const { ahead } = await everyPage(100);
    const answers = ahead.flatMap(({ message }) => (message?.kind === 'answer' ? [message.id] : []));
    const fork = await call<{ session_id: string; messages: readonly { text: string }[] }>('session.fork', {
      message_id: answers[1],
      request_id: 'fork-1',
    });
    const receipt = await journey.receipt(session_id, 'input-2');
    await call('session.delete');
    await journey.daemon.kill('SIGKILL');
    await journey.start();

    expect(fork.messages.map(({ text }) => text.slice(0, 10))).toEqual([
      'pressure 1',
      'answer to ',
      'pressure 2',
      'answer to ',
    ]);
    await journey.submit(fork.session_id, 'another way', 'input-1');
    expect(await journey.settled(fork.session_id, 'input-1')).toMatchObject({ outcome: 'completed' });
    const asked = JSON.stringify(journey.model.requestFor('another way').messages);
    expect(asked).toContain('zebra2');
    expect(asked).not.toContain('zebra3');

    expect(await journey.receipt(session_id, 'input-2')).toEqual(receipt);
    expect(await call('prompt.submit', { input_id: 'input-2', text: promptOf(2) })).toMatchObject({
      admission_id: receipt.admission_id,
      duplicate: true,
    });
    for (const method of ['session.history', 'session.lineage', 'session.export', 'session.resume'])
      expect((await journey.client.request(method, { session_id })).error?.data).toMatchObject({ reason: 'not_found' });
    await vi.waitFor(
      async () => {
        const { hits } = await journey.client.call<Found>('session.search', { query: 'zebra3' });
        expect(hits).toEqual([]);
      },
      { timeout: 30_000, interval: 200 },
    );
  });
});
