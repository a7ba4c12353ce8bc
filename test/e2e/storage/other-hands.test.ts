import { openSync, closeSync, readFileSync, renameSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { TestHome } from '../../support/daemon.ts';
import { makeGate, parked, textAnswer } from '../../support/loopback-model/answers.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

describe('another program that holds the database', () => {
  it('makes submits fail with a typed error at once, stops nothing else, and when it lets go they succeed', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    const before = readStore(home);
    const other = new Database(home.database);
    other.exec('BEGIN IMMEDIATE');

    const { error } = await client.request('prompt.submit', { session_id: session, input_id: 'first', text: 'first' });
    expect(error?.data).toMatchObject({ reason: 'storage_unavailable', retryable: true, outcome_unknown: false });
    expect(await client.call('session.resume', { session_id: session })).toMatchObject({ session_id: session });
    expect(readStore(home)).toEqual(before);

    other.exec('ROLLBACK');
    other.close();
    expect(await submit(client, session, 'first')).toMatchObject({ duplicate: false });
    expect(await settled(client, session, 'first')).toMatchObject({ outcome: 'completed' });
  });

  it('delays the end of a turn until it lets go; the turn is sent once, and its follower runs', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const gate = makeGate();
    stage.model.enqueue(parked(gate, textAnswer('the answer')));
    const { log } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const text of ['running', 'follower']) await submit(client, session, text);
    await stage.model.waitForRequests(1);
    const other = new Database(home.database);
    other.exec('BEGIN IMMEDIATE');
    gate.open();
    await log.line('the storage is full or busy: trying again');
    expect(readStore(home).admissions.map(({ status }) => status)).toEqual(['started', 'queued']);

    other.exec('ROLLBACK');
    other.close();
    expect(await settled(client, session, 'running')).toMatchObject({ outcome: 'completed' });
    expect(await settled(client, session, 'follower')).toMatchObject({ outcome: 'completed' });
    expect(stage.model.requests).toHaveLength(2);
  });

  it('at a start ends it with 74 and a sentence that says so', async () => {
    const stage = await Stage.begin();
    const home = await aUsedHome(stage);
    const other = new Database(home.database);
    other.exec('BEGIN IMMEDIATE');
    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });
    expect(daemon.output).toMatch(/in use|holds the database/);
    other.exec('ROLLBACK');
    other.close();
    await stage.start(home);
  });
});

describe('a damaged page', () => {
  it('of the queue ends the start with 74, and nothing is changed', async () => {
    const stage = await Stage.begin();
    const home = await aUsedHome(stage);
    damagePagesOf(home, 'session_admissions');

    const { daemon, log } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });
    expect(log.lines.map(({ message }) => message)).not.toContain('ready');
    expect(daemon.output).toContain('SQLITE_CORRUPT');
  });

  it('that a client meets is answered as a failed storage, and the process writes no more and exits 74', async () => {
    const stage = await Stage.begin();
    const home = await aUsedHome(stage);
    damagePagesOf(home, 'messages');
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const events = countEvents(home);
    const { sessions } = await client.call<{ sessions: { session_id: string }[] }>('session.list');
    const { error } = await client.request('session.resume', { session_id: sessions[0]?.session_id });
    expect(error?.data).toMatchObject({ reason: 'storage_unavailable' });
    expect(await daemon.exited).toEqual({ code: 74, signal: null });
    expect(countEvents(home)).toBe(events);
  });
});

describe('a store that is moved away while it is in use', () => {
  it('is noticed by the next submit: its outcome is unknown, the process exits 74, and nothing is lost', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'first');
    await settled(client, session, 'first');
    const files = ['', '-wal', '-shm'].map((end) => `${home.database}${end}`);
    for (const file of files) renameSync(file, `${file}.moved`);

    const { error } = await client.request('prompt.submit', {
      session_id: session,
      input_id: 'second',
      text: 'second',
    });
    expect(error).toBeDefined();
    expect(await daemon.exited).toEqual({ code: 74, signal: null });
    for (const file of files) renameSync(`${file}.moved`, file);

    await stage.start(home);
    const again = await stage.connect(home);
    expect(await submit(again, session, 'first')).toMatchObject({ duplicate: true, outcome: 'completed' });
    await submit(again, session, 'second');
    expect(await settled(again, session, 'second')).toMatchObject({ outcome: 'completed' });
  });
});

/** A home whose daemon has run and stopped. */
async function aUsedHome(stage: Stage): Promise<TestHome> {
  const home = stage.home();
  const { daemon } = await stage.start(home);
  const client = await stage.connect(home);
  const session = await createSession(client);
  for (const text of ['first', 'second']) await submit(client, session, text);
  await settled(client, session, 'second');
  await daemon.kill('SIGTERM');
  return home;
}

/** Overwrites every page of a table with zeros, as a disk does that lost them. */
function damagePagesOf(home: TestHome, table: string): void {
  const db = new Database(home.database);
  const pages = db.prepare('SELECT pageno FROM dbstat WHERE name = ?').pluck().all(table) as number[]; // as dbstat is documented
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  db.close();
  expect(pages.length).toBeGreaterThan(0);
  const file = openSync(home.database, 'r+');
  for (const page of pages) writeSync(file, Buffer.alloc(pageBytes), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
  expect(readFileSync(home.database).length).toBeGreaterThan(0);
}

function countEvents(home: TestHome): number {
  const db = new Database(home.database, { readonly: true });
  const count = Number(db.prepare('SELECT count(*) FROM session_events').pluck().get());
  db.close();
  return count;
}
