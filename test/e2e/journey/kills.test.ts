import { afterEach, describe, expect, it } from 'vitest';
import { Journey, admissionOf, expectCompressed, expectSoundStore, lineageOf, longPrompt } from './journey.ts';

describe('a process that dies around a compression', () => {
  let journey: Journey;

  afterEach(async () => {
    await journey.end();
  });

  it('during the summary request: the turn goes back to its own place and runs', async () => {
    journey = await Journey.begin();
    await journey.start();
    const session = await journey.createSession();
    await journey.pressure(session);
    journey.model.parkSummaries = 1;
    await journey.submit(session, longPrompt('trigger'), 'trigger');
    await journey.submit(session, 'follower 1');
    await journey.model.parked();

    await journey.daemon.kill('SIGKILL');
    expect(admissionOf(journey.store(), 'trigger')).toMatchObject({ status: 'started', boundary: 'none' });
    await journey.start();

    expect(await journey.settled(session, 'trigger')).toMatchObject({ outcome: 'completed' });
    expect(await journey.settled(session, 'follower 1')).toMatchObject({ outcome: 'completed' });
    const after = journey.store();
    expect(admissionOf(after, 'trigger')).toMatchObject({ requeue_count: 1, status: 'terminal' });
    expect(after.compressions.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(lineageOf(after, session)).toHaveLength(2);
    expect(journey.model.prompts.slice(3)).toEqual(['trigger', 'follower 1']);
    expectCompressed(journey, 'trigger');
    expectSoundStore(after);
  });

  it('between the rotation and the next request: the rotation stays and the turn runs once (A5, B5)', async () => {
    journey = await Journey.begin();
    await journey.start({ HOLDFAST_FAILPOINTS: 'rotate.after_commit:kill' });
    const session = await journey.createSession();
    await journey.pressure(session);
    await journey.submit(session, longPrompt('trigger'), 'trigger');
    expect(await journey.daemon.exited).toMatchObject({ signal: 'SIGKILL' });
    const before = journey.store();
    expect(lineageOf(before, session)).toHaveLength(2);

    await journey.start();
    expect(await journey.settled(session, 'trigger')).toMatchObject({ outcome: 'completed' });
    const after = journey.store();
    expect(lineageOf(after, session)).toEqual(lineageOf(before, session));
    expect(after.compressions).toEqual(before.compressions);
    expect(journey.model.summaryRequests).toHaveLength(1);
    expect(journey.model.prompts.slice(3)).toEqual(['trigger']);
    expectCompressed(journey, 'trigger');
    expectSoundStore(after);
  });

  it('just before the send: the boundary is durable, so the turn is unknown although nothing was sent (A7)', async () => {
    journey = await Journey.begin();
    await journey.start({ HOLDFAST_FAILPOINTS: 'model.before_send:kill' });
    const session = await journey.createSession();
    await journey.submit(session, 'first');
    await journey.daemon.exited;
    await journey.start();
    expect(await journey.receipt(session, 'first')).toMatchObject({ status: 'unknown' });
    expect(journey.model.server.requests).toHaveLength(0);
  });

  it('after the answer and before its settlement: the turn is unknown and is not sent again (A4)', async () => {
    journey = await Journey.begin();
    await journey.start({ HOLDFAST_FAILPOINTS: 'settle.before_commit:kill' });
    const session = await journey.createSession();
    await journey.submit(session, 'first');
    await journey.daemon.exited;
    await journey.start();
    expect(await journey.receipt(session, 'first')).toMatchObject({ status: 'unknown' });
    expect(journey.model.server.requests).toHaveLength(1);
  });

  it('three times while a turn starts: the turn ends as crash_loop and its follower runs', async () => {
    journey = await Journey.begin();
    const deadly = { HOLDFAST_FAILPOINTS: 'summary.before_send:kill' };
    await journey.start(deadly);
    const session = await journey.createSession();
    await journey.pressure(session);
    await journey.client.call('session.hold', { session_id: session });
    await journey.submit(session, longPrompt('trigger'), 'trigger');
    await journey.submit(session, 'follower 1');
    await journey.client.request('session.release', { session_id: session });
    await journey.daemon.exited;
    // The second and the third start die as soon as the queue runs, before anybody could connect.
    for (let start = 2; start <= 3; start += 1) {
      const { Daemon } = await import('../../support/daemon.ts');
      expect(await Daemon.spawn(journey.home, deadly).exited).toMatchObject({ signal: 'SIGKILL' });
    }
    await journey.start();
    expect(await journey.receipt(session, 'trigger')).toMatchObject({
      outcome: 'failed',
      failure: { reason: 'crash_loop' },
    });
    expect(await journey.settled(session, 'follower 1')).toMatchObject({ outcome: 'completed' });
  });
});
