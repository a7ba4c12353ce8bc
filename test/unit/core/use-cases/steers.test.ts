import { describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { Receipt } from '../../../../src/core/domain/admission/receipt.ts';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import type { Sent } from '../../../../src/core/use-cases/sessions.ts';
import { aPrincipal, aToolCall } from '../../../support/builders.ts';
import { done, MemoryGateway, quiet, said } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';

const looking = (id: string): Script => toolAnswer([aToolCall({ id, name: 'scripted__look', arguments: '{}' })]);
const gated = (name: string, script: Script): Script => [{ kind: 'gate', name }, ...script];

/** A session whose first turn waits at the gate `first` before it asks for a tool. */
async function aTurn(answers: readonly Script[], options: MemoryGatewayOptions = {}) {
  const tools = new ScriptedTools({ look: () => ({ kind: 'answered', text: 'seen', isError: false }) });
  const model = new ScriptedModel(() => textAnswer('Fine.')).enqueue(...answers);
  const gateway = await MemoryGateway.started({ tools, model, ...options });
  const sessionId = await gateway.create({ toolsets: ['scripted.look'] });
  await gateway.submit(sessionId, 'a', 'The task.');
  await gateway.model.reached('first');
  const steer = (inputId: string, more: { ifOver?: 'cancel' | 'queue'; generation?: number } = {}) =>
    gateway.steerPrompt({
      sessionId,
      principalId: aPrincipal,
      inputId,
      payload: { text: `Steer ${inputId}.`, parts: null },
      executionGeneration: more.generation ?? 1,
      ifOver: more.ifOver ?? 'cancel',
    });
  return { gateway, sessionId, steer };
}

function expectValidRequests(gateway: MemoryGateway): void {
  for (const { messages } of gateway.requests('turn')) expect(requestFaults(messages)).toEqual([]);
}

describe('a steer', () => {
  test('joins the turn with all others before its next request, in appends that are bounded by their size', async () => {
    const window = { contextTokens: 10_000_000 };
    const { gateway, sessionId } = await aTurn([gated('first', looking('call-1'))], { window });
    const letters = ['a', 'b', 'c', 'd', 'e'];
    for (const letter of letters) {
      const payload = { text: letter.repeat(1_500_000), parts: null };
      const input = { sessionId, principalId: aPrincipal, executionGeneration: 1, ifOver: 'cancel' } as const;
      done(await gateway.steerPrompt({ ...input, inputId: `s-${letter}`, payload }));
    }
    const before = gateway.ledger.appends.length;

    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');

    const merges = gateway.ledger.appends
      .slice(before)
      .map(({ events }) => events.filter(({ type }) => type === 'admission.merged'));
    expect(merges.map(({ length }) => length).filter((length) => length > 0)).toEqual([3, 2]);
    const sent = said(gateway.requests('turn')[1]).at(-1) ?? '';
    expect(letters.map((letter) => sent.includes(letter.repeat(1_500_000)))).toEqual(letters.map(() => true));
  });

  test('joins the turn at its next step, behind the results, and two are one message of the request', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', looking('call-1'))]);
    done(await steer('s1'));
    done(await steer('s2'));

    gateway.model.release('first');
    const ended = await gateway.ended(sessionId, 'a');

    expect(ended.outcome).toBe('completed');
    expect(said(gateway.requests('turn')[1]).slice(-2)).toEqual(['tool: seen', 'user: Steer s1.\n\nSteer s2.']);
    for (const inputId of ['s1', 's2']) {
      expect(gateway.admission(sessionId, inputId)).toMatchObject({
        status: 'terminal',
        outcome: 'completed',
        mergedInto: ended.admissionId,
      });
    }
    expect(await gateway.texts(sessionId)).toEqual([
      'user: The task.',
      'assistant: ',
      'tool: seen',
      'user: Steer s1.',
      'user: Steer s2.',
      'assistant: Fine.',
    ]);
    expectValidRequests(gateway);
  });

  test('that comes while the last answer is made is cancelled with its turn, or runs as the next prompt', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', textAnswer('Done.'))]);
    done(await steer('dropped'));
    done(await steer('kept', { ifOver: 'queue' }));

    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');
    const kept = await gateway.ended(sessionId, 'kept');

    expect(gateway.admission(sessionId, 'dropped')).toMatchObject({
      outcome: 'cancelled',
      failure: { reason: 'turn_over' },
      mergedInto: null,
    });
    expect(kept).toMatchObject({ outcome: 'completed', executionGeneration: 2, delivery: 'queue', mergedInto: null });
    expect(said(gateway.requests('turn')[1]).at(-1)).toBe('user: Steer kept.');
    expectValidRequests(gateway);
  });

  test('of a turn that is stopped never reaches it', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', looking('call-1'))]);
    done(await steer('s1'));

    await gateway.interrupt(sessionId);
    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');

    expect(gateway.admission(sessionId, 's1')).toMatchObject({
      outcome: 'cancelled',
      failure: { reason: 'turn_over' },
    });
    expect((await gateway.texts(sessionId)).join()).not.toContain('Steer s1.');
  });

  test('that was cancelled in time never reaches its turn', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', looking('call-1'))]);
    const { admission } = done(await steer('s1'));

    const key = { admissionId: admission.admissionId };
    done(await gateway.sessions.send(sessionId, { kind: 'cancel', key, revision: null, known: undefined }));
    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');

    expect(gateway.admission(sessionId, 's1')).toMatchObject({ outcome: 'cancelled', failure: null });
    expect(said(gateway.requests('turn')[1]).at(-1)).toBe('tool: seen');
  });

  test('is the same admission however often it is sent, and late ones are refused', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', looking('call-1'))]);

    const [first, second] = await Promise.all([steer('s1'), steer('s1')]);
    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');
    const third = await steer('s1');

    const ids = [first, second, third].map((sent: Sent<Receipt>) => done(sent).admission.admissionId);
    expect(new Set(ids).size).toBe(1);
    expect(done(third)).toMatchObject({ duplicate: true, admission: { outcome: 'completed' } });
    expect(await steer('s2')).toMatchObject({ kind: 'refused', refusal: { reason: 'turn_over' } });
    expect(await steer('s3', { generation: 9 })).toMatchObject({ refusal: { reason: 'stale_generation' } });
    expect(await steer('s1', { ifOver: 'queue' })).toMatchObject({ refusal: { reason: 'admission_conflict' } });
    expect((await gateway.texts(sessionId)).filter((text) => text.includes('Steer s1.'))).toHaveLength(1);
  });

  test('is not merged behind the last step that the turn may take: no request would carry it', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', looking('call-1'))], { maxSteps: 1 });
    done(await steer('s1'));

    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');

    expect(gateway.admission(sessionId, 's1')).toMatchObject({ outcome: 'cancelled' });
  });

  test('of a process that dies has its fate in the append that ends the run, and runs in the next process', async () => {
    const lost = await aTurn([gated('first', looking('call-1'))]);
    done(await lost.steer('dropped'));
    done(await lost.steer('kept', { ifOver: 'queue' }));

    const next = await MemoryGateway.started({ store: lost.gateway.store, onUnknown: 'discard' });
    await next.ended(lost.sessionId, 'kept');

    expect(next.story(lost.sessionId).slice(6, 9)).toEqual(['admission.cancelled', 'admission.requeued', 'turn.lost']);
    expect(next.admission(lost.sessionId, 'kept').outcome).toBe('completed');
  });

  test('that could not be stored is not part of anything', async () => {
    const { gateway, sessionId, steer } = await aTurn([gated('first', looking('call-1'))]);
    gateway.ledger.failNext('append', new StorageError('full', 'The disk is full.'));

    expect(await steer('s1')).toEqual({ kind: 'unavailable', outcomeUnknown: false });
    gateway.model.release('first');
    await gateway.ended(sessionId, 'a');
    await quiet();

    expect(said(gateway.requests('turn')[1]).at(-1)).toBe('tool: seen');
  });
});
