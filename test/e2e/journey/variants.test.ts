import { afterEach, describe, expect, it } from 'vitest';
import { Journey, admissionOf, expectCompressed, expectSoundStore, lineageOf, longPrompt } from './journey.ts';
import { answerTo, summaryText } from './journey-model.ts';

describe('the journey in other circumstances', () => {
  let journey: Journey;

  afterEach(async () => {
    await journey.end();
  });

  it('an overflow answer is met by one compression, and the turn goes on with the same prompt', async () => {
    journey = await Journey.begin({ threshold: 0.9, threshold_tokens: null });
    await journey.start();
    const session = await journey.createSession();
    await journey.pressure(session);
    journey.model.parkPrompts.add('follower 1');
    const trigger = `trigger |${' more words'.repeat(700)}`;
    await journey.submit(session, trigger, 'trigger');
    for (const follower of ['follower 1', 'follower 2']) await journey.submit(session, follower);
    await journey.model.parked();
    expect(await journey.receipt(session, 'trigger')).toMatchObject({ outcome: 'completed' });
    const before = journey.store();
    expect(before.compressions).toMatchObject([{ status: 'completed', trigger: 'overflow' }]);
    expect(journey.model.refusals).toBe(1);

    await journey.daemon.kill('SIGKILL');
    await journey.start();
    journey.model.gate.open();
    const { admission_id, execution_generation } = await journey.receipt(session, 'follower 1');
    await journey.client.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });
    expect(await journey.settled(session, 'follower 2')).toMatchObject({ outcome: 'completed' });

    const after = journey.store();
    expect(lineageOf(after, session)).toEqual(lineageOf(before, session));
    expect(after.compressions).toEqual(before.compressions);
    // Refused once and answered once; the prompt is stored once.
    expect(journey.model.prompts.slice(3)).toEqual(['trigger', 'trigger', 'follower 1', 'follower 2']);
    const prompts = after.messages.filter(({ content, id, origin_id }) => content === trigger && id === origin_id);
    expect(prompts).toHaveLength(1);
    expectCompressed(journey, 'follower 2');
    expect(journey.model.faults).toEqual([]);
    expectSoundStore(after);
  });

  it('two turns in a row that each compress keep one chain of three transcripts', async () => {
    journey = await Journey.begin();
    await journey.start();
    const session = await journey.createSession();
    await journey.pressure(session);
    journey.model.pressureCharacters = 20_000;
    const first = longPrompt('pressure 4');
    await journey.submit(session, first, 'first');
    const second = `second |${' more words'.repeat(1500)}`;
    await journey.submit(session, second, 'second');
    await journey.submit(session, 'follower 1');
    expect(await journey.settled(session, 'follower 1')).toMatchObject({ outcome: 'completed' });

    const store = journey.store();
    expect(store.compressions.map(({ status, trigger }) => `${trigger} ${status}`)).toEqual([
      'preflight completed',
      'preflight completed',
    ]);
    expect(lineageOf(store, session)).toHaveLength(3);
    expect(journey.model.prompts.slice(3)).toEqual(['pressure 4', 'second', 'follower 1']);
    const content = JSON.stringify(journey.model.requestFor('follower 1').messages);
    expect(content.split(summaryText)).toHaveLength(2);
    expect(journey.model.refusals).toBe(0);
    expect(journey.model.faults).toEqual([]);
    expectSoundStore(store);
  });

  it('one turn may compress by preflight and again after an overflow', async () => {
    // Text that is much longer in JSON than in tokens: the first rebuilt context still overflows the model's window.
    journey = await Journey.begin({ threshold_tokens: 12_200 });
    await journey.start();
    const session = await journey.createSession();
    journey.model.filler = '\\';
    journey.model.pressureCharacters = 12_000;
    await journey.pressure(session);
    const trigger = `trigger |${'\\'.repeat(13_200)}`;
    await journey.submit(session, trigger, 'trigger');
    await journey.submit(session, 'follower 1');
    expect(await journey.settled(session, 'trigger')).toMatchObject({ outcome: 'completed' });
    expect(await journey.settled(session, 'follower 1')).toMatchObject({ outcome: 'completed' });
    const store = journey.store();
    expect(store.compressions.map(({ status, trigger: by }) => `${by} ${status}`)).toEqual([
      'preflight completed',
      'overflow completed',
    ]);
    expect(admissionOf(store, 'trigger')).toMatchObject({ outcome: 'completed', requeue_count: 0 });
    expect(journey.model.prompts.filter((prompt) => prompt === 'trigger')).toHaveLength(2);
    expect(journey.model.faults).toEqual([]);
    expectSoundStore(store);
  });

  it('followers on three sessions at once each keep their own order and their own lineage', async () => {
    journey = await Journey.begin();
    await journey.start();
    const sessions = [await journey.createSession(), await journey.createSession(), await journey.createSession()];
    for (const [index, session] of sessions.entries()) {
      await journey.pressure(session);
      const trigger = `trigger ${String(index)}`;
      journey.model.parkPrompts.add(trigger);
      await journey.submit(session, longPrompt(trigger), trigger);
      for (const name of ['a', 'b']) await journey.submit(session, `follower ${String(index)} ${name}`);
    }
    await journey.model.parked(3);
    const before = journey.store();
    await journey.daemon.kill('SIGKILL');
    await journey.start();
    journey.model.gate.open();
    for (const [index, session] of sessions.entries()) {
      const { admission_id, execution_generation } = await journey.receipt(session, `trigger ${String(index)}`);
      await journey.client.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });
    }
    for (const [index, session] of sessions.entries()) {
      expect(await journey.settled(session, `follower ${String(index)} b`)).toMatchObject({ outcome: 'completed' });
    }
    const after = journey.store();
    for (const [index, session] of sessions.entries()) {
      expect(lineageOf(after, session)).toEqual(lineageOf(before, session));
      const own = journey.model.prompts.filter((prompt) => prompt.startsWith(`follower ${String(index)}`));
      expect(own).toEqual([`follower ${String(index)} a`, `follower ${String(index)} b`]);
      expect(JSON.stringify(journey.model.requestFor(own[0] ?? '').messages)).not.toContain(answerTo('pressure 1', 40));
    }
    expectSoundStore(after);
  });
});
