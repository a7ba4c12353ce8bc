import { describe, expect, test } from 'vitest';
import { anAnswer, aPrincipal, aToolCall } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { LedgerHarness, MakeLedgerHarness } from './harness.ts';

/** What a ledger and its queries know of calls that wait for an approval. */
export function describeApprovals(makeHarness: MakeLedgerHarness): void {
  describe('the requests for approval of a turn', () => {
    const harness = useHarness(makeHarness);

    test('are open from the append that asks, oldest first, in the next process too, and start nothing', async () => {
      const session = await asking(harness);

      const { ledger, queries } = await harness.reopen();

      const loaded = await ledger.load('session-1');
      expect(loaded).toEqual(session.state);
      expect(loaded?.approvals.map(({ approvalId }) => approvalId)).toEqual(['approval-call-2', 'approval-call-1']);
      expect(loaded?.runningCalls).toEqual([]);
      expect(loaded?.open[0]?.boundary).toBe('model');
      const listed = await queries.openApprovals({ of: { sessionId: 'session-1' }, limit: 10 });
      expect(listed).toEqual(
        session.state.approvals.map((approval) => ({
          ...approval,
          sessionId: 'session-1',
          arguments: `{"of":"${approval.callId}"}`,
          argumentsLeftOut: false,
          resolution: null,
        })),
      );
    });

    test('start their call with the answer that allows it', async () => {
      const session = await asking(harness);

      await session.respond('approval-call-1', 'approve');

      expect(await harness.ledger.load('session-1')).toEqual(session.state);
      expect(session.state.approvals.map(({ callId }) => callId)).toEqual(['call-2']);
      expect(session.state.runningCalls.map(({ callId }) => callId)).toEqual(['call-1']);
      expect(session.state.open[0]?.boundary).toBe('tool');
    });

    test('are found for ever with what was decided, in their own session only', async () => {
      const session = await asking(harness);
      await session.respond('approval-call-1', 'deny');
      await session.run({ kind: 'interrupt', executionGeneration: 1, by: 'somebody' });

      const { queries } = await harness.reopen();

      const find = async (id: string) => (await queries.findApproval('session-1', id))?.resolution;
      expect(await find('approval-call-1')).toMatchObject({ decision: 'denied', by: 'somebody', reason: null });
      expect(await find('approval-call-2')).toMatchObject({ decision: 'closed', reason: 'stop_requested' });
      expect(await queries.findApproval('session-2', 'approval-call-1')).toBeNull();
      expect(await queries.findApproval('session-1', 'approval-of-nobody')).toBeNull();
      expect(await queries.openApprovals({ of: { sessionId: 'session-1' }, limit: 10 })).toEqual([]);
    });

    test('are listed for a principal over all its sessions, and no more than asked for', async () => {
      const session = await asking(harness);
      const other = await session.owner.create('session-2');
      await ask(other, 'b');
      const foreign = await session.owner.create('session-3', { principalId: 'stranger' });
      await ask(foreign, 'c');

      const list = async (limit: number) =>
        (await harness.queries.openApprovals({ of: { principalId: aPrincipal }, limit })).map(
          ({ sessionId, callId }) => `${sessionId} ${callId}`,
        );

      expect(await list(10)).toEqual(['session-1 call-2', 'session-1 call-1', 'session-2 b']);
      expect(await list(2)).toEqual(['session-1 call-2', 'session-1 call-1']);
    });

    test('are closed by recovery, and not named as open calls', async () => {
      const session = await asking(harness);
      await session.respond('approval-call-1', 'approve');
      const { ledger, queries } = await harness.reopen();
      const next = session.passTo(await TestOwner.takingOver(ledger));

      await next.recover();

      expect(await ledger.load('session-1')).toEqual(next.state);
      expect(next.state.approvals).toEqual([]);
      expect(next.state.open[0]?.evidence?.openToolCalls).toEqual(['call-1']);
      expect((await queries.findApproval('session-1', 'approval-call-2'))?.resolution).toMatchObject({
        decision: 'closed',
        by: 'gateway',
        reason: 'owner_lost',
      });
    });
  });
}

/** A session whose turn asks for two calls, both of which wait. */
async function asking(harness: LedgerHarness): Promise<TestSession> {
  const owner = await TestOwner.takingOver(harness.ledger);
  const session = await owner.create('session-1');
  await ask(session, 'call-2', 'call-1');
  return session;
}

async function ask(session: TestSession, ...ids: readonly string[]): Promise<void> {
  await session.submit('a');
  await session.start();
  const toolCalls = ids.map((id) => aToolCall({ id, arguments: `{"of":"${id}"}` }));
  await session.askFor(anAnswer({ text: '', toolCalls }));
}
