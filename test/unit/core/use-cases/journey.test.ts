import { describe, expect, test } from 'vitest';
import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Failpoints } from '../../../../src/core/ports/failpoints.ts';
import { MemoryGateway, quiet, said } from '../../../support/memory-gateway.ts';
import { aModel, smallWindow, textOf, underPressure } from './pressure.ts';

/*
 * The journey that Holdfast exists for, in memory: prompts wait behind a turn whose own preflight compresses the
 * transcript, the owner may be lost at any point of it, and the followers run once each, in order, on what was
 * committed.
 */

/** The model's summary waits until the test lets it go. */
const gatedSummary = () => aModel(() => [{ kind: 'gate', name: 'summary' }, ...textAnswer('SUMMARY OF BEFORE')]);

const summaryMessage =
  'user: <background>\nA summary of the earlier conversation, made by the gateway. It is context, not a request.\n\n' +
  'SUMMARY OF BEFORE\n</background>';

describe('prompts that wait while a turn compresses its transcript', () => {
  async function compressing() {
    const model = gatedSummary();
    const { gateway, sessionId } = await underPressure({ model });
    await gateway.submit(sessionId, 'trigger', textOf(200, 'trigger'));
    await model.reached('summary');
    const followers = [await gateway.submit(sessionId, 'follower-1'), await gateway.submit(sessionId, 'follower-2')];
    return { gateway, sessionId, model, followers };
  }

  test('are accepted at once, behind the turn and each other', async () => {
    const { followers } = await compressing();

    expect(followers.map(({ ahead, duplicate, blockedBy }) => ({ ahead, duplicate, blockedBy }))).toEqual([
      { ahead: 1, duplicate: false, blockedBy: [] },
      { ahead: 2, duplicate: false, blockedBy: [] },
    ]);
  });

  test('do not run before it', async () => {
    const { gateway } = await compressing();
    await quiet();

    expect(gateway.requests('turn')).toHaveLength(3);
  });

  test('run once each, in order, on the compressed transcript', async () => {
    const { gateway, sessionId, model } = await compressing();

    model.release('summary');
    const ends = [await gateway.ended(sessionId, 'trigger'), await gateway.ended(sessionId, 'follower-1')];
    ends.push(await gateway.ended(sessionId, 'follower-2'));

    expect(ends.map(({ outcome, executionGeneration }) => [outcome, executionGeneration])).toEqual([
      ['completed', 4],
      ['completed', 5],
      ['completed', 6],
    ]);
    const [, , , trigger, first, second] = gateway.requests('turn').map(said);
    expect(trigger?.[1]).toEqual(summaryMessage);
    expect(trigger?.at(-1)).toEqual(`user: ${textOf(200, 'trigger')}`);
    expect(first).toEqual([...(trigger ?? []), `assistant: ${textOf(100, 'answer')}`, 'user: prompt follower-1']);
    expect(second?.at(-1)).toEqual('user: prompt follower-2');
    expect(second?.filter((text) => text === summaryMessage)).toHaveLength(1);
    expect(gateway.requests('turn')).toHaveLength(6);
    expect(gateway.requests('summary')).toHaveLength(1);
  });

  test('keep their identity, and the compression is one event between the claim and the prompt', async () => {
    const { gateway, sessionId, model, followers } = await compressing();
    model.release('summary');
    await gateway.ended(sessionId, 'follower-2');

    for (const { admission } of followers) {
      const { seq, admissionId, inputId, position } = gateway.admission(sessionId, admission.inputId);
      expect({ seq, admissionId, inputId, position }).toEqual({
        seq: admission.seq,
        admissionId: admission.admissionId,
        inputId: admission.inputId,
        position: admission.position,
      });
    }
    const ofTrigger = gateway.log(sessionId).filter(({ executionGeneration }) => executionGeneration === 4);
    expect(ofTrigger.map(({ type }) => type)).toEqual([
      'turn.started',
      'compression.started',
      'compression.completed',
      'message.appended',
      'message.appended',
      'turn.settled',
    ]);
  });

  test('find the session at the address that it always had (B4)', async () => {
    const { gateway, sessionId, model } = await compressing();
    model.release('summary');
    await gateway.ended(sessionId, 'follower-2');

    const { lineage } = await gateway.state(sessionId);

    expect(lineage).toMatchObject({ rootId: sessionId, parentId: sessionId, length: 2, compressions: 1, open: null });
    expect(await gateway.sessions.idOf(lineage.tipId)).toBe(sessionId);
    expect(await gateway.sessions.idOf(sessionId)).toBe(sessionId);
  });

  test('leave what was compressed away readable in the parent', async () => {
    const { gateway, sessionId, model } = await compressing();
    const before = gateway.store.activeMessages(sessionId);
    model.release('summary');
    await gateway.ended(sessionId, 'follower-2');

    expect(gateway.store.activeMessages(sessionId)).toEqual(before);
  });
});

describe('when the owner is lost', () => {
  /** A gateway that stops for ever at the first such place after the pressure was built, as a killed one does. */
  async function killedAt(place: string) {
    let armed = false;
    let reached = (): void => undefined;
    const killed = new Promise<void>((resolve) => (reached = resolve));
    const failpoints: Failpoints = {
      hit: (name) => {
        if (!armed || name !== place) return undefined;
        reached();
        return new Promise(() => undefined);
      },
    };
    const { gateway, sessionId } = await underPressure({ failpoints });
    armed = true;
    await gateway.submit(sessionId, 'trigger', textOf(200, 'trigger'));
    await gateway.submit(sessionId, 'follower');
    await killed;
    return { gateway, sessionId };
  }

  async function successorOf(lost: MemoryGateway, onUnknown: 'hold' | 'discard' = 'hold') {
    const successor = await MemoryGateway.owning({
      store: lost.store,
      model: aModel(),
      window: smallWindow,
      onUnknown,
    });
    const report = await successor.gateway.start();
    return { successor, report };
  }

  test.each(['claim.after_commit', 'start_compression.after_commit', 'summary.before_send', 'rotate.before_commit'])(
    'at %s, before the compression was committed, the next owner does it all anew',
    async (place) => {
      const { gateway: lost, sessionId } = await killedAt(place);

      const { successor, report } = await successorOf(lost);
      await successor.ended(sessionId, 'trigger');
      await successor.ended(sessionId, 'follower');

      expect(report).toMatchObject({ requeued: 1, lost: 0, ended: 0 });
      expect(successor.requests('summary')).toHaveLength(1);
      expect(successor.requests('turn').map((request) => said(request).at(-1))).toEqual([
        `user: ${textOf(200, 'trigger')}`,
        'user: prompt follower',
      ]);
      expect((await successor.state(sessionId)).lineage).toMatchObject({ length: 2, compressions: 1, open: null });
    },
  );

  test.each(['rotate.after_commit', 'dispatch.before_commit'])(
    'at %s, after the compression was committed, it stays and nothing is summarised again',
    async (place) => {
      const { gateway: lost, sessionId } = await killedAt(place);
      const tip = lost.store.load(sessionId)?.lineage.tipId;

      const { successor, report } = await successorOf(lost);
      await successor.ended(sessionId, 'trigger');
      await successor.ended(sessionId, 'follower');

      expect(report).toMatchObject({ requeued: 1, lost: 0 });
      expect(successor.requests('summary')).toEqual([]);
      expect(successor.requests('turn').map((request) => said(request)[1])).toEqual([summaryMessage, summaryMessage]);
      expect((await successor.state(sessionId)).lineage.tipId).toBe(tip);
      expect(successor.admission(sessionId, 'trigger')).toMatchObject({ outcome: 'completed', requeueCount: 1 });
    },
  );

  test.each(['dispatch.after_commit', 'model.before_send', 'model.after_answer', 'settle.before_commit'])(
    'at %s, when the request may have been sent, the turn is unknown and its follower waits',
    async (place) => {
      const { gateway: lost, sessionId } = await killedAt(place);

      const { successor, report } = await successorOf(lost);
      await quiet();

      expect(report).toMatchObject({ requeued: 0, lost: 1 });
      expect(successor.model.requests).toEqual([]);
      expect(successor.admission(sessionId, 'trigger')).toMatchObject({
        status: 'unknown',
        evidence: { boundary: 'model', ownerEpoch: 1, step: 1, openToolCalls: [] },
      });
      expect(successor.admission(sessionId, 'follower').status).toBe('queued');
    },
  );

  test('the follower of an unknown turn runs once somebody has discarded it, and sees what became of it', async () => {
    const { gateway: lost, sessionId } = await killedAt('model.before_send');
    const { successor } = await successorOf(lost);
    const { admissionId, executionGeneration } = successor.admission(sessionId, 'trigger');

    await successor.sessions.send(sessionId, {
      kind: 'resolve_unknown',
      admissionId,
      executionGeneration: executionGeneration ?? 0,
      action: 'discard',
      by: 'operator',
      retryAdmissionId: 'unused',
      known: undefined,
    });
    await successor.ended(sessionId, 'follower');

    expect(successor.requests('turn').map((request) => said(request).slice(-2))).toEqual([
      ['assistant: [The gateway stopped during this turn. Its answer is lost.]', 'user: prompt follower'],
    ]);
  });

  test('the policy may discard it, and the followers drain alone', async () => {
    const { gateway: lost, sessionId } = await killedAt('model.before_send');

    const { successor } = await successorOf(lost, 'discard');
    await successor.ended(sessionId, 'follower');

    expect(successor.admission(sessionId, 'trigger')).toMatchObject({
      outcome: 'interrupted',
      resolution: { action: 'discard', by: 'policy' },
    });
  });

  test('after the answer was stored, the turn is completed and its follower runs', async () => {
    const { gateway: lost, sessionId } = await killedAt('settle.after_commit');

    const { successor, report } = await successorOf(lost);
    await successor.ended(sessionId, 'follower');

    expect(report).toMatchObject({ requeued: 0, lost: 0, ended: 0 });
    expect(successor.admission(sessionId, 'trigger').outcome).toBe('completed');
    expect(successor.requests('turn')).toHaveLength(1);
  });

  test('the lost owner, should it still live, changes nothing any more and is told to stop', async () => {
    const { gateway: lost, sessionId } = await killedAt('summary.before_send');
    await successorOf(lost);
    const before = lost.store.events(sessionId).length;

    expect(await lost.trySubmit(sessionId, 'late', { text: 'late', parts: null })).toEqual({
      kind: 'unavailable',
      outcomeUnknown: true,
    });
    expect(lost.fatal).toEqual([{ kind: 'superseded', epoch: 2 }]);
    expect(lost.store.events(sessionId).length).toBeGreaterThanOrEqual(before);
    expect(lost.store.findAdmission(sessionId, { principalId: 'local', inputId: 'late' })).toBeNull();
  });

  test('a turn that it was asked to stop ends as interrupted, and its follower runs', async () => {
    const { gateway: lost, sessionId } = await killedAt('summary.before_send');
    await lost.interrupt(sessionId);

    const { successor, report } = await successorOf(lost);
    await successor.ended(sessionId, 'follower');

    expect(report).toMatchObject({ requeued: 0, lost: 0, ended: 1 });
    expect(successor.admission(sessionId, 'trigger')).toMatchObject({ outcome: 'interrupted' });
    expect(successor.requests('turn').map((request) => said(request).at(-1))).toEqual(['user: prompt follower']);
  });
});
