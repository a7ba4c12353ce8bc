import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../support/daemon.ts';
import { calling, ownServer, ToolStage } from './tool-stage.ts';

let stage: ToolStage;

afterEach(async () => {
  await stage.end();
});

interface Waiting {
  readonly approval_id: string;
  readonly name: string;
  readonly arguments: string;
}

async function aStage(approvals: Record<string, unknown> = {}, environment: Record<string, string> = {}) {
  stage = await ToolStage.begin(({ journal }) => ({
    mcp_servers: {
      journal: {
        command: process.execPath,
        args: [ownServer('appends-lines')],
        env: { JOURNAL: journal },
        approval: 'ask',
        approval_rules: [
          { tool: 'append', arguments: { line: 'free*' }, approval: 'always' },
          { arguments: { line: 'never*' }, approval: 'never' },
        ],
      },
    },
    approvals,
  }));
  await stage.start(environment);
  return stage.create();
}

const append = (...lines: readonly string[]) =>
  calling(...lines.map((line): readonly [string, unknown] => ['journal__append', { line }]));

/** The calls that wait, once there are so many. */
async function waiting(session: string, count = 1): Promise<readonly Waiting[]> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { approvals } = await stage.client.call<{ approvals: Waiting[] }>('approval.list', { session_id: session });
    if (approvals.length >= count) return approvals;
    if (Date.now() > deadline) throw new Error(`nobody asks:\n${stage.daemon.output}`);
    await new Promise((resolve) => setTimeout(resolve, 10)); // the model answers in its own time
  }
}

describe('a call that needs an approval', () => {
  test('waits while the others run, is answered from a second socket, runs, and everybody hears it', async () => {
    const session = await aStage();
    await stage.submit(session, 'a', append('free', 'asked', 'never'));
    const [asked] = await waiting(session);
    await stage.noted('free');
    expect(stage.lines).toEqual(['free']);
    expect(asked).toMatchObject({ name: 'journal__append', arguments: '{"line":"asked"}' });
    const second = await connect(stage.home);
    const answer = { session_id: session, approval_id: asked?.approval_id, answer: 'approve' };

    const responded = await second.call('approval.respond', answer);

    expect(responded).toMatchObject({ duplicate: false, resolution: { decision: 'approved', by: 'local' } });
    expect((await stage.ended(session, 'a')).outcome).toBe('completed');
    expect(stage.lines).toEqual(['free', 'asked']);
    expect(stage.lastResults).toHaveLength(3);
    expect(stage.lastResults).toContain('The tool was not called: this use of it is not allowed.');
    expect(await second.call('approval.respond', answer)).toMatchObject({ duplicate: true });
    const { events } = await second.call<{ events: { type: string }[] }>('session.events', {
      session_id: session,
      after_seq: 0,
    });
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('approval.'))).toEqual([
      'approval.requested',
      'approval.resolved',
    ]);
    await expect(second.call('approval.respond', { ...answer, answer: 'deny' })).rejects.toThrow();
    second.close();
    stage.expectValidRequests();
  });

  test('that is denied does not run, and the model goes on', async () => {
    const session = await aStage();
    await stage.submit(session, 'a', append('asked'));
    const [asked] = await waiting(session);

    await stage.client.call('approval.respond', {
      session_id: session,
      approval_id: asked?.approval_id,
      answer: 'deny',
    });

    expect((await stage.ended(session, 'a')).outcome).toBe('completed');
    expect(stage.lines).toEqual([]);
    expect(stage.lastResults).toEqual(['[The call was not made: it was denied.]']);
    stage.expectValidRequests();
  });

  test('that nobody answers in time does not run, and the model goes on', async () => {
    const session = await aStage({ expiry_seconds: 1 });

    const ended = await stage.turn(session, 'a', append('asked'));

    expect(ended.outcome).toBe('completed');
    expect(stage.lines).toEqual([]);
    expect(stage.lastResults).toEqual(['[The call was not made: it was not approved in time.]']);
    expect(stage.rows('SELECT decision, decided_by FROM approvals')).toEqual([
      { decision: 'expired', decided_by: 'gateway' },
    ]);
    stage.expectValidRequests();
  });
});

describe('a process that dies while a call waits', () => {
  test('is killed: the request is closed, the evidence names no call, and nobody can start it any more', async () => {
    const session = await aStage();
    await stage.submit(session, 'a', append('asked'));
    const [asked] = await waiting(session);
    await stage.daemon.kill('SIGKILL');

    await stage.start();

    const lost = await stage.receipt(session, 'a');
    expect(lost).toMatchObject({ status: 'unknown', evidence: { boundary: 'model', open_tool_calls: [] } });
    const late = stage.client.call('approval.respond', {
      session_id: session,
      approval_id: asked?.approval_id,
      answer: 'approve',
    });
    await expect(late).rejects.toThrow();
    expect(stage.rows('SELECT decision, decided_by, reason FROM approvals')).toEqual([
      { decision: 'closed', decided_by: 'gateway', reason: 'owner_lost' },
    ]);
    await stage.client.call('prompt.resolve_unknown', {
      session_id: session,
      admission_id: lost.admission_id,
      execution_generation: lost.execution_generation,
    });
    expect((await stage.turn(session, 'b', 'And now?')).outcome).toBe('completed');
    expect(stage.lines).toEqual([]);
    expect(stage.lastResults).toEqual(['[The call was not started.]']);
    stage.expectValidRequests();
  });

  test.each([
    { place: 'respond_approval.before_commit', open: [], boundary: 'model' },
    { place: 'respond_approval.after_commit', open: ['call_1_0'], boundary: 'tool' },
  ])('at $place: what was not stored was not answered, and nothing runs twice', async ({ place, open, boundary }) => {
    const session = await aStage({}, { HOLDFAST_FAILPOINTS: `${place}:kill` });
    await stage.submit(session, 'a', append('asked'));
    const [asked] = await waiting(session);
    const answer = { session_id: session, approval_id: asked?.approval_id, answer: 'approve' };
    void stage.client.call('approval.respond', answer).catch(() => null);
    await stage.daemon.exited;

    await stage.start();

    expect(await stage.receipt(session, 'a')).toMatchObject({
      status: 'unknown',
      evidence: { boundary, open_tool_calls: open },
    });
    expect(stage.lines).toEqual([]);
  });
});
