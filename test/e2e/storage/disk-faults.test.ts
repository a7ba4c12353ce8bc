import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FaultyDisk, compileShim } from '../../shim/faulty-disk.ts';
import type { TestHome } from '../../support/daemon.ts';
import { makeGate, parked, textAnswer } from '../../support/loopback-model/answers.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { admissionOf } from '../journey/journey.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';
import type { Receipt, Running } from '../stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-shim-'));
const library = compileShim(folder);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.skipIf(library === null)('a disk with faults (skipped where no C compiler can make the shim)', () => {
  let stage: Stage;
  let home: TestHome;
  let disk: FaultyDisk;
  let running: Running;
  let client: RawClient;
  let session: string;

  beforeEach(async () => {
    let remove = (): void => undefined;
    // Before the stage has its own: the last to be registered is the first to be called, and a daemon may still sync.
    onTestFinished(() => {
      remove();
    });
    stage = await Stage.begin();
    home = stage.home();
    disk = new FaultyDisk(home, library ?? '');
    remove = () => {
      disk.remove();
    };
    running = await stage.start(home, disk.environment);
    client = await stage.connect(home);
    session = await createSession(client);
  });

  const submitAnswer = (input_id: string) =>
    client.request('prompt.submit', { session_id: session, input_id, text: input_id });

  describe('that is full at a submit', () => {
    it('refuses it with a typed error, stores nothing, and lives: with room again the same submit is accepted', async () => {
      const before = readStore(home);
      disk.begin('no-space');

      const { error } = await submitAnswer('first');
      expect(error?.data).toMatchObject({ reason: 'storage_unavailable', retryable: true, outcome_unknown: false });
      expect((await client.request('session.hold', { session_id: session })).error?.data).toMatchObject({
        reason: 'storage_unavailable',
      });
      expect(await client.call('gateway.status')).toMatchObject({ state: 'ready' });
      expect(readStore(home)).toEqual(before);

      disk.end('no-space');
      expect(await submit(client, session, 'first')).toMatchObject({ duplicate: false });
      expect(await settled(client, session, 'first')).toMatchObject({ outcome: 'completed' });
    });

    it('still answers known ids with their receipts', async () => {
      await submit(client, session, 'known');
      await settled(client, session, 'known');
      disk.begin('no-space');
      expect(await submit(client, session, 'known')).toMatchObject({ duplicate: true, outcome: 'completed' });
      expect(await client.call('session.resume', { session_id: session })).toMatchObject({ session_id: session });
    });
  });

  describe('that is full while a turn runs', () => {
    it('keeps the answer until there is room: the turn settles, is sent once, and its follower runs (F8)', async () => {
      const gate = makeGate();
      stage.model.enqueue(parked(gate, textAnswer('the answer')));
      await submit(client, session, 'running');
      await submit(client, session, 'follower');
      await stage.model.waitForRequests(1);
      disk.begin('no-space');
      gate.open();
      await running.log.line('the storage is full or busy: trying again');

      expect(await client.call('gateway.status')).toMatchObject({ storage: 'retrying' });
      disk.end('no-space');

      expect(await settled(client, session, 'running')).toMatchObject({ outcome: 'completed' });
      expect(await settled(client, session, 'follower')).toMatchObject({ outcome: 'completed' });
      expect(await client.call('gateway.status')).toMatchObject({ storage: 'ok' });
      expect(stage.model.requests).toHaveLength(2);
      const answers = readStore(home).messages.filter(({ kind }) => kind === 'answer');
      expect(answers.map(({ content }) => content)).toEqual(['the answer', 'ok']);
    });

    it('still answers known ids with their receipts, as what is stored says', async () => {
      const gate = makeGate();
      stage.model.enqueue(parked(gate, textAnswer('the answer')));
      await submit(client, session, 'running');
      await submit(client, session, 'follower');
      await stage.model.waitForRequests(1);
      disk.begin('no-space');
      gate.open();
      await running.log.line('the storage is full or busy: trying again');

      for (const [id, status] of [
        ['running', 'started'],
        ['follower', 'queued'],
      ] as const) {
        expect(await submit(client, session, id)).toMatchObject({ duplicate: true, status });
        const receipt = await client.call('prompt.receipt', { session_id: session, input_id: id });
        expect(receipt).toMatchObject({ status, outcome: null, blocked_by: status === 'queued' ? ['storage'] : [] });
      }
      disk.end('no-space');
      expect(await settled(client, session, 'follower')).toMatchObject({ outcome: 'completed' });
    });

    it('and is still full at a kill, leaves a turn whose fate is unknown, and nothing is sent again', async () => {
      const gate = makeGate();
      stage.model.enqueue(parked(gate, textAnswer('the answer')));
      await submit(client, session, 'running');
      await stage.model.waitForRequests(1);
      disk.begin('no-space');
      gate.open();
      await running.log.line('the storage is full or busy: trying again');
      await running.daemon.kill('SIGKILL');
      disk.end('no-space');

      await stage.start(home);
      const again = await stage.connect(home);
      expect(await again.call('prompt.receipt', { session_id: session, input_id: 'running' })).toMatchObject({
        status: 'unknown',
      });
      expect(stage.model.requests).toHaveLength(1);
    });
  });

  it('that is full at a start ends it with 74 and leaves the store as it was', async () => {
    await running.daemon.kill('SIGTERM');
    const before = readStore(home);
    disk.begin('no-space');
    const { daemon } = stage.spawn(home, disk.environment);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });
    disk.end('no-space');
    expect(readStore(home)).toEqual(before);
  });

  describe.each([
    ['whose sync fails', 'sync-error'],
    ['whose writes fail', 'write-error'],
  ] as const)('%s', (_, fault) => {
    it('leaves the outcome of a submit unknown and exits 74; after the restart the same id is one admission', async () => {
      await submit(client, session, 'earlier');
      await settled(client, session, 'earlier');
      disk.begin(fault);

      const answers = await Promise.all(['a', 'b', 'c'].map(submitAnswer));
      for (const { error } of answers) {
        expect(error?.data).toMatchObject({ reason: 'storage_unavailable', outcome_unknown: true, retryable: true });
      }
      expect(await running.daemon.exited).toEqual({ code: 74, signal: null });
      disk.end(fault);

      await stage.start(home, disk.environment);
      client = await stage.connect(home);
      for (const id of ['a', 'b', 'c']) await submit(client, session, id);
      expect(await settled(client, session, 'c')).toMatchObject({ outcome: 'completed' });
      const { admissions } = readStore(home);
      expect(admissions.map(({ request_id }) => request_id)).toEqual(['earlier', 'a', 'b', 'c']);
      expect(stage.model.requests).toHaveLength(4);
    });

    it('under a turn that ends exits 74 and tells nobody that it ended; afterwards it is never sent again', async () => {
      const gate = makeGate();
      stage.model.enqueue(parked(gate, textAnswer('the answer')));
      const { admission_id } = await submit(client, session, 'running');
      await submit(client, session, 'follower');
      await stage.model.waitForRequests(1);
      disk.begin(fault);
      gate.open();
      expect(await running.daemon.exited).toEqual({ code: 74, signal: null });
      disk.end(fault);
      expect(client.events.some((event) => event.type === 'turn.settled')).toBe(false);

      await stage.start(home, disk.environment);
      client = await stage.connect(home);
      const after = await client.call<Receipt>('prompt.receipt', { session_id: session, input_id: 'running' });
      // What was being written when the sync failed may or may not be there.
      expect([`unknown null`, 'terminal completed']).toContain(`${after.status} ${String(after.outcome)}`);
      if (after.status === 'unknown') {
        const { execution_generation } = after;
        await client.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });
      }
      expect(await settled(client, session, 'follower')).toMatchObject({ outcome: 'completed' });
      expect(stage.model.requests).toHaveLength(2);
    });
  });

  it('that is slow to sync holds up nobody but those who wait for a commit', async () => {
    disk.begin('slow-sync', '700');
    const order: string[] = [];
    const slow = submitAnswer('slow').then(() => order.push('submit'));
    const quick = client.call('ping').then(() => order.push('ping'));
    const other = client.call('session.list').then(() => order.push('list'));
    await Promise.all([slow, quick, other]);
    expect(order.at(-1)).toBe('submit');
    disk.end('slow-sync');
    expect(admissionOf(readStore(home), 'slow')).toMatchObject({ request_id: 'slow' });
  });
});
