import { beforeEach, describe, expect, it } from 'vitest';
import type { Daemon, TestHome } from '../../support/daemon.ts';
import { makeGate, parked, textAnswer } from '../../support/loopback-model/answers.ts';
import type { Gate } from '../../support/loopback-model/answers.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';
import type { Receipt } from '../stage.ts';

describe('a daemon that drains', () => {
  let stage: Stage;
  let home: TestHome;
  let daemon: Daemon;
  let client: RawClient;
  let session: string;
  let receipts: Readonly<Record<string, Receipt>>;
  let gate: Gate;

  beforeEach(async () => {
    stage = await Stage.begin();
    home = stage.home({ shutdown: { drain_seconds: 3600 } });
    gate = makeGate();
    stage.model.enqueue(textAnswer('an answer'), parked(gate, textAnswer('another')));
    const running = await stage.start(home);
    daemon = running.daemon;
    client = await stage.connect(home);
    session = await createSession(client);
    const ended = await submit(client, session, 'ended');
    await settled(client, session, 'ended');
    const started = await submit(client, session, 'started');
    const queued = await submit(client, session, 'queued');
    receipts = { ended, started, queued };
    await stage.model.waitForRequests(2);
    daemon.child.kill('SIGTERM');
    await running.log.line('draining');
  });

  it('refuses new prompts with a typed and retryable error, and stores nothing of them', async () => {
    const before = readStore(home);
    const { error } = await client.request('prompt.submit', { session_id: session, input_id: 'new', text: 'new' });
    expect(error?.data).toMatchObject({
      reason: 'draining',
      retryable: true,
      retry_after_ms: expect.any(Number) as number,
    });
    expect(readStore(home)).toEqual(before);

    gate.open();
    await daemon.exited;
    await stage.start(home);
    const again = await stage.connect(home);
    expect(await submit(again, session, 'new')).toMatchObject({ duplicate: false });
    expect(await settled(again, session, 'new')).toMatchObject({ outcome: 'completed' });
  });

  it.each(['ended', 'started', 'queued'])(
    'answers the known id of a prompt that is %s with its receipt',
    async (name) => {
      const known = receipts[name];
      expect(await submit(client, session, name)).toMatchObject({
        admission_id: known?.admission_id,
        sequence: known?.sequence,
        duplicate: true,
      });
      const conflict = await client.request('prompt.submit', { session_id: session, input_id: name, text: 'other' });
      expect(conflict.error?.data).toMatchObject({
        reason: 'admission_conflict',
        receipt: { admission_id: known?.admission_id },
      });
    },
  );

  it('lets clients in that come now, so that they can learn what became of their prompts', async () => {
    const late = await stage.connect(home);
    expect(await late.call('gateway.status')).toMatchObject({ state: 'draining' });
    expect(await submit(late, session, 'ended')).toMatchObject({ duplicate: true, outcome: 'completed' });
  });

  it('tells subscribers how the last turn ended before it goes', async () => {
    const { admission_id } = receipts['started'] ?? {};
    const end = client.event((event) => event.type === 'turn.settled' && event.admission_id === admission_id);
    gate.open();
    expect(await end).toMatchObject({ payload: { outcome: 'completed' } });
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
  });

  it('answers whoever waits for the last turn before it goes', async () => {
    const end = settled(client, session, 'started');
    gate.open();
    expect(await end).toMatchObject({ settled: true, outcome: 'completed' });
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
  });

  it('still cancels what waits, and the queue is as it was left at the next start', async () => {
    await client.call('prompt.cancel', { session_id: session, input_id: 'queued' });
    gate.open();
    await daemon.exited;
    expect(readStore(home).admissions.map(({ request_id, outcome }) => `${request_id} ${String(outcome)}`)).toEqual([
      'ended completed',
      'started completed',
      'queued cancelled',
    ]);
    expect(stage.model.requests).toHaveLength(2);
  });
});
