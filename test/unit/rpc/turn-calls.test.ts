import { beforeEach, describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../src/adapters/outbound/memory/scripted-tools.ts';
import { aToolCall } from '../../support/builders.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

let core: MemoryGateway;
let peer: FakePeer;
let session_id: string;

/** A session whose turn asks for a tool that waits for an approval, with these arguments. */
async function asking(args: string): Promise<string> {
  const model = new ScriptedModel(() => textAnswer('Fine.'));
  model.enqueue(toolAnswer([aToolCall({ id: 'call-1', name: 'scripted__look', arguments: args })]));
  const tools = new ScriptedTools({ look: () => ({ kind: 'answered', text: 'seen', isError: false }) });
  const policy = { scripted: { approval: 'ask', rules: [] } } as const;
  core = await MemoryGateway.started({ model, tools, approvalRules: { policy, expirySeconds: 60, maxOpen: 16 } });
  peer = FakePeer.connect(rpcDependencies(core));
  session_id = await core.create({ toolsets: ['scripted.look'] });
  await core.submit(session_id, 'a');
  const event = await core.happened(session_id, ({ type }) => type === 'approval.requested');
  return event.type === 'approval.requested' ? event.approvalId : '';
}

describe('approval.list', () => {
  test('shows what waits, of one session and of all, as the tool would get it', async () => {
    const approval_id = await asking('{"path":"/harmless","path":"/etc/passwd"}');

    const one = await peer.call('approval.list', { session_id });
    const all = await peer.call('approval.list', {});

    expect(one).toEqual({
      approvals: [
        {
          approval_id,
          session_id,
          admission_id: core.admission(session_id, 'a').admissionId,
          execution_generation: 1,
          message_id: 2,
          call_id: 'call-1',
          name: 'scripted__look',
          arguments: '{"path":"/etc/passwd"}',
          options: ['approve', 'deny'],
          requested_at: '2030-01-01T00:00:00.000Z',
          expires_at: '2030-01-01T00:01:00.000Z',
        },
      ],
      more: false,
    });
    expect(all).toEqual(one);
    expect((await peer.call('session.resume', { session_id }))['approvals']).toEqual(one['approvals']);
  });

  test('cuts arguments that are too long and says so', async () => {
    await asking(JSON.stringify({ text: 'x'.repeat(1_000_000) }));

    const { approvals } = await peer.call('approval.list', { session_id });

    expect(approvals).toMatchObject([{ truncated: true }]);
  });

  test('of a session that does not exist is refused', async () => {
    await asking('{}');

    const { error } = await peer.request('approval.list', { session_id: 'nowhere' });

    expect(error).toMatchObject({ data: { reason: 'not_found', what: 'session' } });
  });
});

describe('approval.respond', () => {
  test('answers what was decided, and the same for a repeat', async () => {
    const approval_id = await asking('');

    const first = await peer.call('approval.respond', { session_id, approval_id, answer: 'approve' });
    const again = await peer.call('approval.respond', { session_id, approval_id, answer: 'approve' });

    expect(first).toEqual({
      session_id,
      approval_id,
      call_id: 'call-1',
      name: 'scripted__look',
      resolution: { decision: 'approved', by: 'local', at: '2030-01-01T00:00:00.000Z' },
      duplicate: false,
    });
    expect(again).toEqual({ ...first, duplicate: true });
  });

  test('after another answer says what was decided', async () => {
    const approval_id = await asking('{}');
    await peer.call('approval.respond', { session_id, approval_id, answer: 'deny' });

    const { error } = await peer.request('approval.respond', { session_id, approval_id, answer: 'approve' });

    expect(error).toMatchObject({
      code: 1220,
      data: { reason: 'approval_closed', retryable: false, resolution: { decision: 'denied', by: 'local' } },
    });
  });

  test.each([
    ['an id that nobody asked for', { approval_id: 'nothing', answer: 'approve' }, { reason: 'not_found' }],
    ['an answer that is none', { approval_id: 'nothing', answer: 'maybe' }, { reason: 'invalid_params' }],
  ])('with %s is refused', async (_what, params, data) => {
    await asking('{}');

    const { error } = await peer.request('approval.respond', { session_id, ...params });

    expect(error).toMatchObject({ data });
  });
});

describe('session.steer', () => {
  beforeEach(async () => {
    const model = new ScriptedModel(() => textAnswer('Fine.'));
    model.enqueue([{ kind: 'gate', name: 'go' }, ...textAnswer('At last.')]);
    core = await MemoryGateway.started({ model });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await core.submit(session_id, 'a');
    await model.reached('go');
  });

  const steer = { execution_generation: 1, input_id: 's', text: 'Be quick.' };

  test('answers a receipt that says what it steers, and the same one for the same call', async () => {
    const first = await peer.call('session.steer', { session_id, ...steer });
    const again = await peer.call('session.steer', { session_id, ...steer });

    expect(first).toMatchObject({
      input_id: 's',
      status: 'queued',
      ahead: 0,
      delivery: 'steer',
      steers_generation: 1,
      if_over: 'cancel',
      duplicate: false,
    });
    expect(again).toEqual({ ...first, duplicate: true });
    const { pending } = await peer.call('session.resume', { session_id });
    expect(pending).toMatchObject([{ input_id: 'a' }, { input_id: 's', delivery: 'steer', text: 'Be quick.' }]);
  });

  test('whose turn ends first is cancelled, and whoever waits for it hears so', async () => {
    await peer.call('session.steer', { session_id, ...steer });
    const waiting = peer.call('prompt.wait', { session_id, input_id: 's', timeout_ms: 60_000 });

    core.model.release('go');

    expect(await waiting).toMatchObject({ settled: true, outcome: 'cancelled', failure: { reason: 'turn_over' } });
  });

  test.each([
    ['of a turn that is over', { execution_generation: 0 }, 'turn_over'],
    ['of a turn that has not begun', { execution_generation: 7 }, 'stale_generation'],
    ['without anything to say', { text: undefined }, 'invalid_params'],
    ['with an id that is kept for retries', { input_id: 'a~1' }, 'invalid_params'],
    ['with the id of a prompt', { input_id: 'a' }, 'admission_conflict'],
  ])('%s is refused', async (_what, params, reason) => {
    const { error } = await peer.request('session.steer', { session_id, ...steer, ...params });

    expect(error).toMatchObject({ data: { reason } });
  });
});
