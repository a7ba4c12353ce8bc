import { describe, expect, test } from 'vitest';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { ToolScript } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import type { ToolHost, ToolOutcome } from '../../../../src/core/ports/tool-host.ts';
import { aPrincipal, aToolCall } from '../../../support/builders.ts';
import { done, MemoryGateway, quiet, said } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';
import { aModel, smallWindow, textOf } from './pressure.ts';

const answered = (text: string): ToolOutcome => ({ kind: 'answered', text, isError: false });
const aborted: ToolOutcome = { kind: 'broken', reason: 'aborted', message: 'It was aborted.', notStarted: false };

const call = (name: string, id = `call-${name}`, args = '{}') =>
  aToolCall({ id, name: `scripted__${name}`, arguments: args });

/** Answers only when it is aborted, as the port promises. */
const hangs: ToolScript = (_request, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(aborted);
    signal.addEventListener('abort', () => {
      resolve(aborted);
    });
  });

/** A tool that a test lets answer, and that says when it was reached. */
function gated() {
  let open = (): void => undefined;
  let arrive = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const script: ToolScript = async () => {
    arrive();
    await opened;
    return answered('opened');
  };
  return { script, open, reached };
}

async function withTools(
  scripts: Readonly<Record<string, ToolScript>>,
  answers: readonly Script[],
  options: MemoryGatewayOptions = {},
) {
  const tools = new ScriptedTools(scripts);
  const model = new ScriptedModel(() => textAnswer('Fine.')).enqueue(...answers);
  const gateway = await MemoryGateway.started({ tools, model, ...options });
  const sessionId = await gateway.create({ toolsets: Object.keys(scripts).map((name) => `scripted.${name}`) });
  return { gateway, sessionId, tools };
}

function expectValidRequests(gateway: MemoryGateway): void {
  for (const { messages } of gateway.requests('turn')) expect(requestFaults(messages)).toEqual([]);
}

describe('the intent of a call (J1)', () => {
  test('is durable, with the boundary and the answer that asks for it, before the tool is called (A32)', async () => {
    let atCall: unknown;
    const { gateway, sessionId } = await withTools(
      {
        look: () => {
          const [admission] = [gateway.admission(sessionId, 'a')];
          atCall = { boundary: admission.boundary, story: gateway.story(sessionId).slice(-2) };
          return answered('seen');
        },
      },
      [toolAnswer([call('look')])],
    );

    await gateway.turn(sessionId, 'a');

    expect(atCall).toEqual({ boundary: 'tool', story: ['message.appended', 'tool.started'] });
  });

  test('that can not be stored keeps the tool from being called', async () => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered('seen') }, [
      [{ kind: 'gate', name: 'answer' }, ...toolAnswer([call('look')])],
    ]);
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('answer');
    gateway.ledger.failNext('append', new StorageError('corrupt', 'The disk is gone.'));

    gateway.model.release('answer');
    await quiet();

    expect(tools.calls).toEqual([]);
    expect(gateway.fatal).toHaveLength(1);
  });

  test('is not stored after a stop, and the call is not made', async () => {
    const { gateway, sessionId, tools } = await withTools(
      { look: () => answered('seen') },
      [toolAnswer([call('look')])],
      {
        failpoints: { hit: (name) => (name === 'model.after_answer' ? gateway.interrupt(sessionId) : undefined) },
      },
    );

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'interrupted', boundary: 'model' });
    expect(tools.calls).toEqual([]);
    expect(gateway.story(sessionId)).not.toContain('tool.started');
    expect((await gateway.texts(sessionId)).at(-1)).toBe('assistant: [This turn was stopped before it was answered.]');
  });

  test('that is stored just before a stop is closed as a call that had no effect', async () => {
    let stop: Promise<void> | undefined;
    const { gateway, sessionId, tools } = await withTools(
      { look: () => answered('seen') },
      [toolAnswer([call('look')])],
      {
        failpoints: {
          hit: (name) => {
            if (name !== 'tool.before_call') return undefined;
            stop = gateway.interrupt(sessionId);
            return stop;
          },
        },
      },
    );

    const ended = await gateway.turn(sessionId, 'a');
    await stop;

    expect(ended.outcome).toBe('interrupted');
    expect(tools.calls).toEqual([]);
    expect((await gateway.texts(sessionId)).at(-2)).toBe(
      'tool: [The call came to no answer (aborted): It was stopped before it began. It had no effect.]',
    );
  });

  test.each(['tool.before_call', 'tool.after_call'])(
    'is all that a process leaves that dies at %s: the next owner makes no call and names the open one',
    async (place) => {
      const dead = new Promise<never>(() => undefined);
      const lost = await withTools({ look: () => answered('seen') }, [toolAnswer([call('look')])], {
        failpoints: { hit: (name) => (name === place ? dead : undefined) },
      });
      await lost.gateway.submit(lost.sessionId, 'a');
      await lost.gateway.happened(lost.sessionId, ({ type }) => type === 'tool.started');
      await lost.gateway.submit(lost.sessionId, 'b');
      await quiet();
      const tools = new ScriptedTools({ look: () => answered('seen again') });

      const next = await MemoryGateway.started({ store: lost.gateway.store, tools });
      await quiet();

      expect(next.admission(lost.sessionId, 'a')).toMatchObject({
        status: 'unknown',
        evidence: { boundary: 'tool', openToolCalls: ['call-look'] },
      });
      expect(next.admission(lost.sessionId, 'b').status).toBe('queued');
      const { admissionId } = next.admission(lost.sessionId, 'a');
      done(
        await next.sessions.send(lost.sessionId, {
          kind: 'resolve_unknown',
          admissionId,
          executionGeneration: 1,
          action: 'discard',
          by: 'local',
          retryAdmissionId: 'retry-1',
          known: undefined,
        }),
      );
      expect((await next.ended(lost.sessionId, 'b')).outcome).toBe('completed');
      expect(tools.calls).toEqual([]);
      expect(said(next.requests('turn')[0])[2]).toBe(
        'tool: [The gateway stopped while this call was open. Its outcome is unknown.]',
      );
      expectValidRequests(next);
    },
  );
});

describe('a batch of calls (J2)', () => {
  test('runs each once, and the model reads each result at its call', async () => {
    const { gateway, sessionId, tools } = await withTools(
      { look: ({ callId }) => answered(`seen by ${callId}`), fail: () => ({ ...answered('No.'), isError: true }) },
      [toolAnswer([call('look', 'c1', '{"at":1}'), call('fail', 'c2'), call('look', 'c3')]), textAnswer('Done.')],
    );

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'completed', step: 2 });
    expect(tools.calls.map(({ callId, arguments: given }) => [callId, given])).toEqual([
      ['c1', { at: 1 }],
      ['c2', {}],
      ['c3', {}],
    ]);
    expect(said(gateway.requests('turn')[1]).slice(2)).toEqual(['tool: seen by c1', 'tool: No.', 'tool: seen by c3']);
    expect(gateway.log(sessionId).flatMap((e) => (e.type === 'tool.finished' ? [[e.callId, e.result]] : []))).toEqual([
      ['c1', 'answered'],
      ['c2', 'failed'],
      ['c3', 'answered'],
    ]);
    expectValidRequests(gateway);
  });

  test('runs side by side, and each result is stored as it comes', async () => {
    const slow = gated();
    const { gateway, sessionId } = await withTools({ slow: slow.script, quick: () => answered('quick') }, [
      toolAnswer([call('slow'), call('quick')]),
    ]);
    await gateway.submit(sessionId, 'a');
    await slow.reached;

    await gateway.happened(sessionId, ({ type }) => type === 'tool.finished');

    expect((await gateway.texts(sessionId)).at(-1)).toBe('tool: quick');
    expect((await gateway.state(sessionId)).runningCalls.map(({ callId }) => callId)).toEqual(['call-slow']);
    expect(gateway.requests('turn')).toHaveLength(1);
    slow.open();
    expect((await gateway.ended(sessionId, 'a')).outcome).toBe('completed');
    expect(said(gateway.requests('turn')[1]).slice(2)).toEqual(['tool: opened', 'tool: quick']);
    expectValidRequests(gateway);
  });

  test('goes on when a tool breaks or its host throws: the model is told what is known of its effect', async () => {
    const broken = { kind: 'broken', reason: 'timeout', message: 'It took too long.', notStarted: false } as const;
    const { gateway, sessionId } = await withTools(
      {
        slow: () => broken,
        down: () => ({ ...broken, reason: 'unavailable', message: 'No server.', notStarted: true }),
        throws: () => Promise.reject(new Error('A bug.')),
      },
      [toolAnswer([call('slow'), call('down'), call('throws')])],
    );

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended.outcome).toBe('completed');
    expect(said(gateway.requests('turn')[1]).slice(2)).toEqual([
      'tool: [The call came to no answer (timeout): It took too long. Whether it had an effect is unknown.]',
      'tool: [The call came to no answer (unavailable): No server. It had no effect.]',
      'tool: [The call came to no answer (unavailable): A bug. Whether it had an effect is unknown.]',
    ]);
  });

  test('in which one id comes twice is one call', async () => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered('seen') }, [
      toolAnswer([call('look', 'c1'), call('look', 'c1')]),
    ]);

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended.outcome).toBe('completed');
    expect(tools.calls).toHaveLength(1);
    expect(said(gateway.requests('turn')[1]).slice(2)).toEqual(['tool: seen']);
    expectValidRequests(gateway);
  });

  test('may use the ids of an earlier batch again', async () => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered(`look ${tools.calls.length}`) }, [
      toolAnswer([call('look', 'c1')]),
      toolAnswer([call('look', 'c1')]),
    ]);

    await gateway.turn(sessionId, 'a');

    expect(said(gateway.requests('turn')[2]).filter((text) => text.startsWith('tool:'))).toEqual([
      'tool: look 1',
      'tool: look 2',
    ]);
    expectValidRequests(gateway);
  });
});

describe('a call that nobody could make (J3)', () => {
  const length = (script: Script): Script =>
    script.map((step) => (step.kind === 'finished' ? { ...step, finishReason: 'length' } : step));

  test.each([
    ['broken arguments', toolAnswer([call('look', 'c1', '{"path":"a')])],
    ['a list for arguments', toolAnswer([call('look', 'c1', '[1]')])],
    ['null for arguments', toolAnswer([call('look', 'c1', 'null')])],
    ['a trailing comma', toolAnswer([call('look', 'c1', '{"a":1,}')])],
    ['arguments cut off by the output limit', length(toolAnswer([call('look', 'c1', '{"a":"aaa')]))],
    ['no arguments in an answer that was cut off', length(toolAnswer([call('look', 'c1', '')]))],
  ])('with %s never reaches a tool, and the model may try again (D5, D8)', async (_what, script) => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered('seen') }, [
      script,
      toolAnswer([call('look', 'c2', '{"path":"a"}')]),
    ]);

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'completed', step: 3 });
    expect(tools.calls.map(({ callId }) => callId)).toEqual(['c2']);
    expect(said(gateway.requests('turn')[1]).at(-1)).toBe(
      'tool: The tool was not called: its arguments are not a JSON object. They may have been cut off.',
    );
    expect(gateway.log(sessionId).filter(({ type }) => type === 'tool.started')).toHaveLength(1);
    expectValidRequests(gateway);
  });

  test('without arguments gets none when the answer is whole', async () => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered('seen') }, [
      toolAnswer([call('look', 'c1', '')]),
    ]);

    await gateway.turn(sessionId, 'a');

    expect(tools.calls.map(({ arguments: given }) => given)).toEqual([{}]);
  });

  test('because there is no such tool is told which there are', async () => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered('seen') }, [
      toolAnswer([call('leap')]),
    ]);

    await gateway.turn(sessionId, 'a');

    expect(tools.calls).toEqual([]);
    expect(said(gateway.requests('turn')[1]).at(-1)).toBe(
      'tool: There is no tool called "scripted__leap". There are: scripted__look.',
    );
  });

  test('does not hinder the others of its batch', async () => {
    const { gateway, sessionId, tools } = await withTools({ look: () => answered('seen') }, [
      toolAnswer([call('look', 'c1', '{'), call('look', 'c2')]),
    ]);

    await gateway.turn(sessionId, 'a');

    expect(tools.calls.map(({ callId }) => callId)).toEqual(['c2']);
    expect(said(gateway.requests('turn')[1]).slice(2)).toEqual([
      'tool: The tool was not called: its arguments are not a JSON object. They may have been cut off.',
      'tool: seen',
    ]);
    expectValidRequests(gateway);
  });

  test('again and again ends the turn at its most steps', async () => {
    const { gateway, sessionId, tools } = await withTools(
      { look: () => answered('seen') },
      Array.from({ length: 5 }, (_, n) => toolAnswer([call('look', `c${n}`, '{')])),
      { maxSteps: 3 },
    );

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'max_steps' } });
    expect(tools.calls).toEqual([]);
    expect((await gateway.turn(sessionId, 'b')).outcome).toBe('completed');
    expectValidRequests(gateway);
  });
});

describe('more calls than', () => {
  test('one answer may start: the rest are answered with an error, and each call has its result', async () => {
    const { gateway, sessionId, tools } = await withTools(
      { look: () => answered('seen') },
      [toolAnswer(Array.from({ length: 5 }, (_, n) => call('look', `c${n}`)))],
      { callLimits: { maxPerStep: 3, maxParallel: 16 } },
    );

    expect(await gateway.turn(sessionId, 'a')).toMatchObject({ outcome: 'completed' });

    expect(tools.calls.map(({ callId }) => callId)).toEqual(['c0', 'c1', 'c2']);
    const tooMany = 'tool: The tool was not called: one answer may ask for no more than 3 calls.';
    expect(said(gateway.requests('turn')[1]).slice(2).sort()).toEqual([
      tooMany,
      tooMany,
      'tool: seen',
      'tool: seen',
      'tool: seen',
    ]);
    expectValidRequests(gateway);
  });

  test('one answer may start are kept by a fork of its step, with all their results', async () => {
    const calls = Array.from({ length: 600 }, (_, n) => call('look', `c${n}`));
    const { gateway, sessionId } = await withTools({ look: () => answered('seen') }, [toolAnswer(calls)], {
      window: { contextTokens: 1_000_000, outputTokens: 1000 },
    });
    await gateway.turn(sessionId, 'a');
    const { messages } = await gateway.state(sessionId);
    const asking = messages.find(({ toolCallIds }) => toolCallIds.length > 0);

    const fork = done(
      await gateway.forkSession({
        principalId: aPrincipal,
        requestId: null,
        sessionId,
        messageId: asking?.id ?? 0,
        title: null,
      }),
    );

    const kept = (await gateway.state(fork.sessionId)).messages;
    expect(kept.map(({ toolCallId }) => toolCallId).sort()).toEqual([null, null, ...calls.map(({ id }) => id)].sort());
  });

  test('may run at once: they wait, and begin in their order as others end', async () => {
    const open: (() => void)[] = [];
    const look: ToolScript = () => new Promise((resolve) => open.push(() => resolve(answered('seen'))));
    const { gateway, sessionId, tools } = await withTools(
      { look },
      [toolAnswer(Array.from({ length: 5 }, (_, n) => call('look', `c${n}`)))],
      { callLimits: { maxPerStep: 128, maxParallel: 2 } },
    );
    await gateway.submit(sessionId, 'a');

    for (let ended = 0; ended < 5; ended += 1) {
      await quiet();
      expect(tools.calls).toHaveLength(Math.min(ended + 2, 5));
      open[ended]?.();
    }

    expect(await gateway.ended(sessionId, 'a')).toMatchObject({ outcome: 'completed' });
    expect(tools.calls.map(({ callId }) => callId)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
    expectValidRequests(gateway);
  });

  test('may run at once: those that wait when the turn is stopped never begin', async () => {
    const { gateway, sessionId, tools } = await withTools(
      { hang: hangs },
      [toolAnswer([call('hang', 'c0'), call('hang', 'c1')])],
      { callLimits: { maxPerStep: 128, maxParallel: 1 } },
    );
    await gateway.submit(sessionId, 'a');
    await gateway.happened(sessionId, ({ type }) => type === 'tool.started');
    await quiet();

    await gateway.interrupt(sessionId);

    expect(await gateway.ended(sessionId, 'a')).toMatchObject({ outcome: 'interrupted' });
    expect(tools.calls.map(({ callId }) => callId)).toEqual(['c0']);
    await gateway.turn(sessionId, 'b');
    expect(said(gateway.requests('turn').at(-1))).toContain(
      'tool: [The call came to no answer (aborted): It was stopped before it began. It had no effect.]',
    );
    expectValidRequests(gateway);
  });
});

describe('an interrupt while tools run', () => {
  test('keeps the results that are there, says of the others that they were stopped, and lets the next turn run', async () => {
    const { gateway, sessionId } = await withTools({ quick: () => answered('quick'), hang: hangs }, [
      toolAnswer([call('hang'), call('quick')]),
    ]);
    await gateway.submit(sessionId, 'a');
    await gateway.submit(sessionId, 'b');
    await gateway.happened(sessionId, ({ type }) => type === 'tool.finished');

    await gateway.interrupt(sessionId);
    const ended = await gateway.ended(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'interrupted', boundary: 'tool' });
    await gateway.ended(sessionId, 'b');
    expect(said(gateway.requests('turn').at(-1)).slice(2)).toEqual([
      'tool: [The call came to no answer (aborted): It was aborted. Whether it had an effect is unknown.]',
      'tool: quick',
      'assistant: [This turn was stopped before it was answered.]',
      'user: prompt b',
    ]);
    expectValidRequests(gateway);
  });

  test('keeps an answer that comes although the call was aborted: it is the truth', async () => {
    const slow = gated();
    const { gateway, sessionId } = await withTools({ slow: slow.script }, [toolAnswer([call('slow')])]);
    await gateway.submit(sessionId, 'a');
    await slow.reached;

    await gateway.interrupt(sessionId);
    slow.open();
    const ended = await gateway.ended(sessionId, 'a');

    expect(ended.outcome).toBe('interrupted');
    expect((await gateway.texts(sessionId)).slice(-2)).toEqual([
      'tool: opened',
      'assistant: [This turn was stopped before it was answered.]',
    ]);
    expect(gateway.requests('turn')).toHaveLength(1);
  });

  test('by a graceful stop settles the turn before the process ends', async () => {
    const { gateway, sessionId } = await withTools({ hang: hangs }, [toolAnswer([call('hang')])]);
    await gateway.submit(sessionId, 'a');
    await gateway.happened(sessionId, ({ type }) => type === 'tool.started');

    await gateway.gateway.drain(0, new AbortController().signal);

    expect(gateway.admission(sessionId, 'a').outcome).toBe('interrupted');
    expect((await gateway.state(sessionId)).runningCalls).toEqual([]);
  });

  test('by a graceful stop does not wait for tools that are still being looked up: the prompt waits for the next owner', async () => {
    const tools: ToolHost = {
      list: (_selection, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve([]);
          });
        }),
      call: () => Promise.resolve(aborted),
      health: () => [],
      close: () => Promise.resolve(),
    };
    const gateway = await MemoryGateway.started({ tools });
    const sessionId = await gateway.create({ toolsets: ['scripted.look'] });
    await gateway.submit(sessionId, 'a');

    await gateway.gateway.drain(0, new AbortController().signal);

    expect(gateway.admission(sessionId, 'a')).toMatchObject({ status: 'queued', boundary: 'none' });
    expect(gateway.model.requests).toEqual([]);
  });
});

describe('the context of a turn with tools', () => {
  test('offers the tools in every request of the turn, and in no summary', async () => {
    const { gateway, sessionId } = await withTools({ look: () => answered('seen') }, [toolAnswer([call('look')])]);

    await gateway.turn(sessionId, 'a');

    for (const { tools } of gateway.requests('turn')) expect(tools.map(({ name }) => name)).toEqual(['scripted__look']);
  });

  test('counts what tools say: the next step is compressed first, and batches stay whole (B41)', async () => {
    const bulky = textOf(195, 'output');
    const { gateway, sessionId, tools } = await withTools({ bulky: () => answered(bulky) }, [], {
      window: smallWindow,
      policy: { protectFirstN: 0, protectLastN: 1 },
      model: aModel().enqueue(
        toolAnswer([call('bulky', 'c1'), call('bulky', 'c2')]),
        toolAnswer([call('bulky', 'c3'), call('bulky', 'c4')]),
        textAnswer('SUMMARY OF BEFORE'),
        textAnswer('Done.'),
      ),
    });

    const ended = await gateway.turn(sessionId, 'a', 'Work.');

    expect(ended.outcome).toBe('completed');
    expect(tools.calls.map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c3', 'c4']);
    expect(gateway.requests('summary').map((request) => request.tools)).toEqual([[]]);
    const last = said(gateway.requests('turn').at(-1));
    expect(last[0]).toContain('SUMMARY OF BEFORE');
    expect(last.filter((text) => text.startsWith('tool:'))).toHaveLength(2);
    expectValidRequests(gateway);
  });

  test('counts the schemas of the tools (B31, C20)', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `tool-with-a-long-name-${n}`);
    const { gateway, sessionId } = await withTools(
      Object.fromEntries(names.map((name) => [name, () => answered('')])),
      [],
      { window: smallWindow },
    );

    const ended = await gateway.turn(sessionId, 'a', 'Work.');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'window_too_small' } });
    expect(ended.failure?.message).toMatch(/\d{3,} the tools/);
    expect(gateway.model.requests).toEqual([]);
  });
});
