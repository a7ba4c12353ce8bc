import { afterEach, describe, expect, it } from 'vitest';
import {
  Journey,
  admissionOf,
  expectCompressed,
  expectSoundStore,
  identityOf,
  lineageOf,
  longPrompt,
} from './journey.ts';
import { summaryText } from './journey-model.ts';

const followers = ['follower 1', 'follower 2', 'follower 3'];

describe('prompts that wait behind a turn whose preflight compressed', () => {
  let journey: Journey;

  afterEach(async () => {
    await journey.end();
  });

  /** Fills a session, lets the trigger turn compress and park in its first request, and queues the followers. */
  async function compressAndPark(): Promise<string> {
    journey = await Journey.begin();
    await journey.start();
    const session = await journey.createSession();
    await journey.pressure(session);
    journey.model.parkPrompts.add('trigger');
    await journey.submit(session, longPrompt('trigger'), 'trigger');
    for (const follower of followers) await journey.submit(session, follower);
    await journey.model.parked();
    return session;
  }

  it('survive kill -9: the lost turn waits for a decision, then they run once each, in order, compressed', async () => {
    const session = await compressAndPark();
    const before = journey.store();
    expect(lineageOf(before, session)).toHaveLength(2);
    expect(before.compressions).toMatchObject([{ status: 'completed', trigger: 'preflight', session_id: session }]);

    await journey.daemon.kill('SIGKILL');
    await journey.start();

    const lost = await journey.receipt(session, 'trigger');
    expect(lost).toMatchObject({ status: 'unknown', outcome: null, duplicate: true });
    for (const follower of followers) {
      expect(await journey.receipt(session, follower)).toMatchObject({
        status: 'queued',
        blocked_by: ['unknown_execution'],
      });
    }
    const recovered = journey.store();
    expect(recovered.epoch).toBe(before.epoch + 1);
    expect(recovered.admissions.map(identityOf)).toEqual(before.admissions.map(identityOf));
    expect(lineageOf(recovered, session)).toEqual(lineageOf(before, session));
    expect(journey.model.prompts).not.toContain('follower 1');

    journey.model.gate.open();
    const { admission_id, execution_generation } = lost;
    await journey.client.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });
    for (const follower of followers) {
      expect(await journey.settled(session, follower)).toMatchObject({ status: 'terminal', outcome: 'completed' });
    }

    const after = journey.store();
    expect(after.admissions.map(identityOf)).toEqual(before.admissions.map(identityOf));
    expect(admissionOf(after, 'trigger')).toMatchObject({
      status: 'terminal',
      outcome: 'interrupted',
      boundary: 'model',
    });
    expect(lineageOf(after, session)).toEqual(lineageOf(before, session));
    expect(after.compressions).toEqual(before.compressions);
    expect(journey.model.prompts).toEqual(['pressure 1', 'pressure 2', 'pressure 3', 'trigger', ...followers]);
    expect(journey.model.summaryRequests).toHaveLength(1);
    for (const follower of followers) expectCompressed(journey, follower);
    expect(journey.model.refusals).toBe(0);
    expect(journey.model.faults).toEqual([]);
    expectSoundStore(after);
  });

  it('survive SIGTERM: the running turn is interrupted in the open, and they run after the restart by themselves', async () => {
    const session = await compressAndPark();
    const before = journey.store();

    expect(await journey.daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    journey.model.gate.open();
    await journey.startAlone();
    await journey.model.server.waitForRequests(8);
    await journey.connect();

    for (const follower of followers) {
      expect(await journey.settled(session, follower)).toMatchObject({ status: 'terminal', outcome: 'completed' });
    }
    const after = journey.store();
    expect(after.admissions.map(identityOf)).toEqual(before.admissions.map(identityOf));
    expect(admissionOf(after, 'trigger')).toMatchObject({ status: 'terminal', outcome: 'interrupted' });
    expect(lineageOf(after, session)).toEqual(lineageOf(before, session));
    expect(journey.model.prompts).toEqual(['pressure 1', 'pressure 2', 'pressure 3', 'trigger', ...followers]);
    for (const follower of followers) expectCompressed(journey, follower);
    expect(journey.model.refusals).toBe(0);
    expect(journey.model.faults).toEqual([]);
    expectSoundStore(after);
  });

  it('keep their receipts: the same id answers the same admission after compression, restart and settlement', async () => {
    const session = await compressAndPark();
    const first = await journey.receipt(session, 'follower 1');
    await journey.daemon.kill('SIGKILL');
    await journey.start();

    const again = await journey.submit(session, 'follower 1');
    expect(again).toMatchObject({ admission_id: first.admission_id, sequence: first.sequence, duplicate: true });

    journey.model.gate.open();
    const { admission_id, execution_generation } = await journey.receipt(session, 'trigger');
    await journey.client.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });
    await journey.settled(session, 'follower 3');
    expect(await journey.submit(session, 'follower 1')).toMatchObject({
      admission_id: first.admission_id,
      sequence: first.sequence,
      status: 'terminal',
      outcome: 'completed',
      duplicate: true,
    });
    const conflict = await journey.client.request('prompt.submit', {
      session_id: session,
      input_id: 'follower 1',
      text: 'something else',
    });
    expect(conflict.error?.data).toMatchObject({
      reason: 'admission_conflict',
      receipt: { admission_id: first.admission_id },
    });
    expect(journey.model.prompts.filter((prompt) => prompt === 'follower 1')).toHaveLength(1);
  });

  it('retry admits the lost prompt anew, before them, and its old id keeps its outcome', async () => {
    const session = await compressAndPark();
    await journey.daemon.kill('SIGKILL');
    await journey.start();
    journey.model.gate.open();

    const { admission_id, execution_generation } = await journey.receipt(session, 'trigger');
    const resolve = { session_id: session, admission_id, execution_generation, action: 'retry' };
    const resolved = await journey.client.call<{ retry: { input_id: string } }>('prompt.resolve_unknown', resolve);
    expect(resolved).toMatchObject({ status: 'terminal', outcome: 'interrupted', retry: { input_id: 'trigger~1' } });
    await journey.settled(session, 'follower 3');

    expect(journey.model.prompts.slice(3)).toEqual(['trigger', 'trigger', ...followers]);
    expect(await journey.receipt(session, 'trigger')).toMatchObject({ outcome: 'interrupted' });
    expect(await journey.receipt(session, 'trigger~1')).toMatchObject({ outcome: 'completed' });
    expect(await journey.client.call('prompt.resolve_unknown', resolve)).toMatchObject({ outcome: 'interrupted' });
    expect(journey.model.faults).toEqual([]);
    expectSoundStore(journey.store());
  });

  it('run with the client gone and nobody connected', async () => {
    const session = await compressAndPark();
    journey.client.close();
    journey.model.gate.open();
    await journey.model.server.waitForRequests(8);
    await journey.connect();
    expect(await journey.settled(session, 'follower 3')).toMatchObject({ outcome: 'completed' });
    expect(journey.model.prompts.slice(3)).toEqual(['trigger', ...followers]);
  });

  it('the child transcript holds the head, the summary and the tail, and the closed parent is untouched', async () => {
    const session = await compressAndPark();
    const store = journey.store();
    const [parent, child] = store.sessions.filter(({ root_session_id }) => root_session_id === session);
    const parentRows = store.messages.filter(({ session_id }) => session_id === parent?.id);
    const childRows = store.messages.filter(({ session_id, active }) => session_id === child?.id && active === 1);
    expect(parentRows.map(({ kind }) => kind)).toEqual(['prompt', 'answer', 'prompt', 'answer', 'prompt', 'answer']);
    expect(parentRows.every(({ active }) => active === 1)).toBe(true);
    expect(childRows.map(({ kind }) => kind)).toEqual(['prompt', 'summary', 'prompt', 'answer', 'prompt']);
    expect(childRows[0]).toMatchObject({ content: parentRows[0]?.content, origin_id: parentRows[0]?.id });
    expect(childRows[1]).toMatchObject({ content: summaryText });
    expect(childRows[3]).toMatchObject({ content: parentRows[5]?.content, origin_id: parentRows[5]?.id });
  });
});
