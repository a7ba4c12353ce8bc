import { describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { ApprovalMode } from '../../../../src/core/domain/approval/policy.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import { makeRespondApproval } from '../../../../src/core/use-cases/respond-approval.ts';
import { aPrincipal, aToolCall } from '../../../support/builders.ts';
import { done, MemoryGateway, quiet } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';

const call = (name: string, id = `call-${name}`) => aToolCall({ id, name: `scripted__${name}`, arguments: '{}' });

const seen = () => ({ kind: 'answered', text: 'seen', isError: false }) as const;

interface Stage {
  readonly gateway: MemoryGateway;
  readonly sessionId: string;
  readonly tools: ScriptedTools;
  readonly respond: (
    approvalId: string,
    answer: 'approve' | 'deny',
    by?: string,
  ) => ReturnType<ReturnType<typeof makeRespondApproval>>;
}

/** A gateway whose model asks for `ask_*` tools, which wait, and for others, which don't. */
async function aStage(
  answers: readonly Script[],
  options: MemoryGatewayOptions & { readonly mode?: ApprovalMode; readonly maxOpen?: number } = {},
): Promise<Stage> {
  const tools = new ScriptedTools({ ask_a: seen, ask_b: seen, free: seen });
  const model = new ScriptedModel(() => textAnswer('Fine.')).enqueue(...answers);
  const { mode = 'ask', maxOpen = 16, ...rest } = options;
  const rules = [{ tool: 'ask_*', arguments: {}, approval: mode }];
  const policy = { scripted: { approval: 'always', rules } } as const;
  const gateway = await MemoryGateway.started({
    tools,
    model,
    approvalRules: { policy, expirySeconds: 60, maxOpen },
    ...rest,
  });
  const sessionId = await gateway.create({ toolsets: ['ask_a', 'ask_b', 'free'].map((name) => `scripted.${name}`) });
  const respondApproval = makeRespondApproval({ sessions: gateway.sessions, queries: gateway.queries });
  return {
    gateway,
    sessionId,
    tools,
    respond: (approvalId, answer, by = aPrincipal) => respondApproval({ sessionId, approvalId, answer, by }),
  };
}

async function requested({ gateway, sessionId }: Stage, name = 'scripted__ask_a'): Promise<string> {
  const isIt = (event: SessionEvent) => event.type === 'approval.requested' && event.name === name;
  const event = await gateway.happened(sessionId, isIt);
  return event.type === 'approval.requested' ? event.approvalId : '';
}

const names = ({ tools }: Stage) => tools.calls.map(({ tool }) => tool.serverTool);

async function results({ gateway, sessionId }: Stage): Promise<readonly string[]> {
  return (await gateway.transcript(sessionId)).flatMap(({ role, text }) => (role === 'tool' ? [text] : []));
}

function expectValidRequests({ gateway }: Stage): void {
  for (const { messages } of gateway.requests('turn')) expect(requestFaults(messages)).toEqual([]);
}

describe('a call that needs an approval', () => {
  test('runs after the answer that allows it is durable, and the others do not wait for it', async () => {
    const stage = await aStage([toolAnswer([call('ask_a'), call('free')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    const approvalId = await requested(stage);
    await quiet();
    expect(names(stage)).toEqual(['free']);

    const { approval, duplicate } = done(await stage.respond(approvalId, 'approve'));
    const ended = await stage.gateway.ended(stage.sessionId, 'a');

    expect(approval.resolution).toMatchObject({ decision: 'approved', by: aPrincipal });
    expect(duplicate).toBe(false);
    expect(names(stage)).toEqual(['free', 'ask_a']);
    expect(ended.outcome).toBe('completed');
    expectValidRequests(stage);
  });

  test('that is denied is told to the model, and the turn goes on', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');

    done(await stage.respond(await requested(stage), 'deny'));
    const ended = await stage.gateway.ended(stage.sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'completed', boundary: 'model' });
    expect(names(stage)).toEqual([]);
    expect(await results(stage)).toEqual(['[The call was not made: it was denied.]']);
    expectValidRequests(stage);
  });

  test('keeps the transcript from being compressed, and a later denial leaves every request valid (B50)', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')]), textAnswer('Then not.')]);
    const { gateway, sessionId, respond } = stage;
    await gateway.submit(sessionId, 'a');
    const approvalId = await requested(stage);

    const byHand = await gateway.gateway.byHand.compress({
      sessionId,
      principalId: aPrincipal,
      requestId: 'by hand',
      focus: null,
      keepLast: 0,
    });
    await respond(approvalId, 'deny');
    await gateway.ended(sessionId, 'a');
    await gateway.turn(sessionId, 'b');

    expect(byHand).toMatchObject({ kind: 'refused' });
    expect(gateway.requests('summary')).toEqual([]);
    expect(await results(stage)).toHaveLength(1);
    expectValidRequests(stage);
  });

  test('that nobody answers in time is told to the model, and a late answer hears so', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    const approvalId = await requested(stage);
    await quiet();

    await stage.gateway.clock.advance(60_000);
    const ended = await stage.gateway.ended(stage.sessionId, 'a');

    expect(ended.outcome).toBe('completed');
    expect(await results(stage)).toEqual(['[The call was not made: it was not approved in time.]']);
    const late = await stage.respond(approvalId, 'approve');
    expect(late).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'approval_closed', approval: { resolution: { decision: 'expired', by: 'gateway' } } },
    });
    expect(names(stage)).toEqual([]);
  });

  test('is answered once: the first answer wins, its sender may repeat it, and others hear what was decided', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    const approvalId = await requested(stage);

    const answers = await Promise.all([
      stage.respond(approvalId, 'approve'),
      stage.respond(approvalId, 'deny', 'somebody else'),
      stage.respond(approvalId, 'approve'),
    ]);
    await stage.gateway.ended(stage.sessionId, 'a');

    expect(answers).toMatchObject([
      { kind: 'done', reply: { duplicate: false } },
      { kind: 'refused', refusal: { reason: 'approval_closed', approval: { resolution: { decision: 'approved' } } } },
      { kind: 'done', reply: { duplicate: true } },
    ]);
    expect(done(await stage.respond(approvalId, 'approve')).duplicate).toBe(true);
    expect(await stage.respond(approvalId, 'deny')).toMatchObject({ refusal: { reason: 'approval_closed' } });
    expect(names(stage)).toEqual(['ask_a']);
    expect(stage.gateway.story(stage.sessionId).filter((type) => type === 'approval.resolved')).toHaveLength(1);
  });

  test('under an id that nobody asked for is not found, and nothing happens', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    await requested(stage);

    expect(await stage.respond('approval-of-nobody', 'approve')).toEqual({
      kind: 'refused',
      refusal: { reason: 'not_found', what: 'approval' },
    });
    expect(names(stage)).toEqual([]);
  });

  test('is closed by a stop: the turn ends, and no answer starts it any more', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    const approvalId = await requested(stage);

    await stage.gateway.interrupt(stage.sessionId, 'operator');
    const ended = await stage.gateway.ended(stage.sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'interrupted', boundary: 'model' });
    expect(await results(stage)).toEqual(['[The call was not started.]']);
    expect(await stage.respond(approvalId, 'approve')).toMatchObject({
      refusal: { approval: { resolution: { decision: 'closed', by: 'operator', reason: 'stop_requested' } } },
    });
    expect(names(stage)).toEqual([]);
  });

  test('is closed when its process was lost, and the evidence knows that it never started', async () => {
    const lost = await aStage([toolAnswer([call('ask_a'), call('ask_b')])]);
    await lost.gateway.submit(lost.sessionId, 'a');
    const first = await requested(lost);
    const second = await requested(lost, 'scripted__ask_b');
    const tools = new ScriptedTools({ ask_a: seen, ask_b: seen });

    const next = await MemoryGateway.started({ store: lost.gateway.store, tools });
    await quiet();

    expect(next.admission(lost.sessionId, 'a')).toMatchObject({
      status: 'unknown',
      evidence: { boundary: 'model', openToolCalls: [] },
    });
    const respond = makeRespondApproval({ sessions: next.sessions, queries: next.queries });
    for (const approvalId of [first, second]) {
      expect(await respond({ sessionId: lost.sessionId, approvalId, answer: 'approve', by: aPrincipal })).toMatchObject(
        { refusal: { approval: { resolution: { decision: 'closed', reason: 'owner_lost' } } } },
      );
    }
    expect(tools.calls).toEqual([]);
  });

  test('whose answer could not be stored is not started, and may be answered again', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    const approvalId = await requested(stage);
    await quiet();
    stage.gateway.ledger.failNext('append', new StorageError('full', 'The disk is full.'));

    expect(await stage.respond(approvalId, 'approve')).toEqual({ kind: 'unavailable', outcomeUnknown: false });
    expect(names(stage)).toEqual([]);

    done(await stage.respond(approvalId, 'approve'));
    expect((await stage.gateway.ended(stage.sessionId, 'a')).outcome).toBe('completed');
    expect(names(stage)).toEqual(['ask_a']);
  });

  test('waits with so many others only: what is beyond the limit is told to the model', async () => {
    const stage = await aStage([toolAnswer([call('ask_a'), call('ask_b')])], { maxOpen: 1 });
    await stage.gateway.submit(stage.sessionId, 'a');

    done(await stage.respond(await requested(stage), 'approve'));
    await stage.gateway.ended(stage.sessionId, 'a');

    expect(names(stage)).toEqual(['ask_a']);
    expect(await results(stage)).toEqual([
      'The tool was not called: it needs an approval, and no more than 1 calls may wait for one at once.',
      'seen',
    ]);
    expectValidRequests(stage);
  });

  test('is shown in a snapshot with its arguments while it waits', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    const approvalId = await requested(stage);

    const look = async () =>
      (await stage.gateway.gateway.readSnapshot({ sessionId: stage.sessionId, messageLimit: 10, before: null }))
        ?.approvals;

    expect(await look()).toMatchObject([{ approvalId, name: 'scripted__ask_a', arguments: '{}', resolution: null }]);
    done(await stage.respond(approvalId, 'deny'));
    expect(await look()).toEqual([]);
  });

  test('of a gateway that stops is closed when the turn is interrupted', async () => {
    const stage = await aStage([toolAnswer([call('ask_a')])]);
    await stage.gateway.submit(stage.sessionId, 'a');
    await requested(stage);

    await stage.gateway.gateway.drain(0, new AbortController().signal);

    expect(stage.gateway.admission(stage.sessionId, 'a').outcome).toBe('interrupted');
    expect(stage.gateway.log(stage.sessionId).find(({ type }) => type === 'approval.resolved')).toMatchObject({
      decision: 'closed',
      by: 'shutdown',
    });
  });
});

test('a call that is never allowed gives the model an error, and nothing runs', async () => {
  const stage = await aStage([toolAnswer([call('ask_a')])], { mode: 'never' });

  const ended = await stage.gateway.turn(stage.sessionId, 'a');

  expect(ended).toMatchObject({ outcome: 'completed', boundary: 'model' });
  expect(names(stage)).toEqual([]);
  expect(await results(stage)).toEqual(['The tool was not called: this use of it is not allowed.']);
  expectValidRequests(stage);
});
