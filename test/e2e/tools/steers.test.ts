import { afterEach, describe, expect, test } from 'vitest';
import { calling, ToolStage } from './tool-stage.ts';
import type { WireReceipt } from './tool-stage.ts';

let stage: ToolStage;

afterEach(async () => {
  await stage.end();
});

type Steered = WireReceipt & { readonly merged_into?: string; readonly failure?: { readonly reason: string } };

const steer = (session: string, inputId: string, ifOver: 'cancel' | 'queue' = 'cancel'): Promise<Steered> =>
  stage.client.call('session.steer', {
    session_id: session,
    execution_generation: 1,
    input_id: inputId,
    text: `Steer ${inputId}.`,
    if_over: ifOver,
  });

const slowly = { HOLDFAST_FAILPOINTS: 'tool.before_call:delay=2000' };

/** A session whose first turn works on a tool for a while. */
async function working(environment: Readonly<Record<string, string>> = slowly): Promise<string> {
  stage = await ToolStage.begin();
  await stage.start(environment);
  const session = await stage.create();
  await stage.submit(session, 'a', calling(['journal__append', { line: 'a' }]));
  const deadline = Date.now() + 30_000;
  while (stage.rows("SELECT 1 FROM tool_calls WHERE status = 'started'").length === 0) {
    if (Date.now() > deadline) throw new Error(`no tool was started:\n${stage.daemon.output}`);
    await new Promise((resolve) => setTimeout(resolve, 10)); // the model answers in its own time
  }
  return session;
}

test('a steer joins the turn behind the results of its step, once, however often it is sent', async () => {
  const session = await working();
  const first = await steer(session, 's');
  const again = await steer(session, 's');

  const ended = await stage.ended(session, 'a');

  expect(again.admission_id).toBe(first.admission_id);
  expect(ended.outcome).toBe('completed');
  expect(await stage.receipt(session, 's')).toMatchObject({ outcome: 'completed', merged_into: ended.admission_id });
  const sent = stage.model.chats.at(-1)?.messages.map(({ role, content }) => [role, content]);
  expect(sent?.slice(-2)).toEqual([
    ['tool', 'appended a'],
    ['user', 'Steer s.'],
  ]);
  stage.expectValidRequests();
});

describe('a process that is killed while a steer waits', () => {
  test('leaves it cancelled or in the queue, behind the lost turn until that is resolved', async () => {
    const session = await working();
    await steer(session, 'dropped');
    await steer(session, 'kept', 'queue');
    await stage.daemon.kill('SIGKILL');

    await stage.start();

    expect(await stage.receipt(session, 'dropped')).toMatchObject({
      status: 'terminal',
      outcome: 'cancelled',
      failure: { reason: 'turn_over' },
    });
    expect(await stage.receipt(session, 'kept')).toMatchObject({ status: 'queued', delivery: 'queue' });
    const lost = await stage.receipt(session, 'a');
    expect(lost.status).toBe('unknown');
    await stage.client.call('prompt.resolve_unknown', {
      session_id: session,
      admission_id: lost.admission_id,
      execution_generation: lost.execution_generation,
    });
    expect((await stage.ended(session, 'kept')).outcome).toBe('completed');
    stage.expectValidRequests();
  });

  test.each([
    { place: 'merge_steers.before_commit', outcome: 'cancelled' },
    { place: 'merge_steers.after_commit', outcome: 'completed' },
  ])('at $place: the steer is $outcome, and nothing of it is done twice', async ({ place, outcome }) => {
    const session = await working({ HOLDFAST_FAILPOINTS: `tool.before_call:delay=2000,${place}:kill` });
    await steer(session, 's');
    await stage.daemon.exited;

    await stage.start();

    expect(await stage.receipt(session, 's')).toMatchObject({ status: 'terminal', outcome });
    expect((await stage.receipt(session, 'a')).status).toBe('unknown');
    expect(stage.rows("SELECT count(*) AS n FROM messages WHERE kind = 'steer'")).toEqual([
      { n: outcome === 'completed' ? 1 : 0 },
    ]);
  });
});
