import { describe, expect, test } from 'vitest';
import { failedWith, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { aToolCall } from '../../../support/builders.ts';
import { said } from '../../../support/memory-gateway.ts';
import { aModel, textOf, underPressure } from './pressure.ts';

/** Makes a compression due and still fits the window. */
const trigger = textOf(180, 'trigger');

const cutOff: Script = [
  { kind: 'text', text: 'The user wan' },
  { kind: 'finished', finishReason: 'length', usage: null, parts: null },
];

describe.each<[string, Script]>([
  ['the model is down (B11)', [failedWith('unavailable', 'The model is down.')]],
  ['the model’s answer is empty (B8, B13)', textAnswer('')],
  [
    'the model only thinks (B8)',
    [
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'finished', finishReason: 'stop', usage: null, parts: null },
    ],
  ],
  ['the summary is cut off', cutOff],
  ['the model answers with a tool call (B10)', toolAnswer([aToolCall()])],
  ['the model answers with an error text', textAnswer('Error: upstream timed out')],
  ['the connection drops', [{ kind: 'text', text: 'The user' }]],
  ['the summary is longer than what it replaces', textAnswer(textOf(900, 'long'))],
])('when %s', (_what, script) => {
  async function failed() {
    const world = await underPressure({ model: aModel(() => script) });
    const before = await world.gateway.transcript(world.sessionId);
    const ended = await world.gateway.turn(world.sessionId, 'next', trigger);
    return { ...world, before, ended };
  }

  test('the prompt runs all the same, on the transcript as it was', async () => {
    const { gateway, sessionId, before, ended } = await failed();

    expect(ended.outcome).toBe('completed');
    expect((await gateway.transcript(sessionId)).slice(0, before.length)).toEqual(before);
    expect(said(gateway.requests('turn').at(-1))).toHaveLength(before.length + 1);
    expect((await gateway.state(sessionId)).lineage).toMatchObject({ tipId: sessionId, length: 1, compressions: 0 });
  });

  test('the attempt has one start and one end (B35)', async () => {
    const { gateway, sessionId } = await failed();

    expect(gateway.story(sessionId).filter((type) => type.startsWith('compression'))).toEqual([
      'compression.started',
      'compression.failed',
    ]);
  });

  test('the next turn does not try again at once, and does after a minute (B13)', async () => {
    const { gateway, sessionId } = await failed();
    const asked = gateway.requests('summary').length;

    await gateway.turn(sessionId, 'soon', 'Hello?');
    expect(gateway.requests('summary')).toHaveLength(asked);

    await gateway.clock.advance(60_000);
    await gateway.turn(sessionId, 'later', 'Hello again?');
    expect(gateway.requests('summary').length).toBeGreaterThan(asked);
  });
});

describe('a summary that gains too little', () => {
  test('is asked for once a rung, and no more often', async () => {
    const { gateway, sessionId } = await underPressure({ model: aModel(() => textAnswer(textOf(900, 'long'))) });

    await gateway.turn(sessionId, 'next', trigger);

    const asked = gateway.requests('summary').map(({ messages }) => JSON.stringify(messages));
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  test('may be enough on a later rung, where more is summarised', async () => {
    const { gateway, sessionId } = await underPressure({
      model: aModel(() => textAnswer(textOf(250, 'summary'))),
      policy: { protectFirstN: 0, protectLastN: 1 },
    });

    const ended = await gateway.turn(sessionId, 'next', trigger);

    expect(ended.outcome).toBe('completed');
    expect(gateway.requests('summary')).toHaveLength(2);
    expect((await gateway.state(sessionId)).lineage.compressions).toBe(1);
  });
});

describe('with a model of its own for summaries', () => {
  const summaryTarget = { provider: 'custom', model: 'small-model', baseUrl: null };
  const ofModel = (name: string, script: Script) =>
    aModel(({ target }) => (target.model === name ? script : textAnswer('SUMMARY OF BEFORE')));

  test('it is the one that is asked', async () => {
    const { gateway, sessionId } = await underPressure({ summaryTarget });

    await gateway.turn(sessionId, 'next', trigger);

    expect(gateway.requests('summary').map(({ target }) => target.model)).toEqual(['small-model']);
  });

  test('the session’s model is asked once more when it fails', async () => {
    const model = ofModel('small-model', [failedWith('auth', 'No key.')]);
    const { gateway, sessionId } = await underPressure({ summaryTarget, model });

    await gateway.turn(sessionId, 'next', trigger);

    expect(gateway.requests('summary').map(({ target }) => target.model)).toEqual(['small-model', 'test-model']);
    expect((await gateway.state(sessionId)).lineage.compressions).toBe(1);
  });

  test('the session’s model is not asked twice when it is the same one', async () => {
    const { gateway, sessionId } = await underPressure({
      summaryTarget: { provider: 'custom', model: 'test-model', baseUrl: null },
      model: aModel(() => [failedWith('auth', 'No key.')]),
    });

    await gateway.turn(sessionId, 'next', trigger);

    expect(gateway.requests('summary')).toHaveLength(1);
  });
});

describe('the summary’s request', () => {
  test('carries no tools and one message that holds the middle as data (B10)', async () => {
    const { gateway, sessionId } = await underPressure();

    await gateway.turn(sessionId, 'next', trigger);

    const [request] = gateway.requests('summary');
    expect(request).toMatchObject({ tools: [], purpose: 'summary' });
    expect(request?.messages).toHaveLength(1);
    expect(said(request)[0]).toMatch(/^user: <transcript>\n\[assistant\]\nanswer /);
  });

  test('never moves the boundary of its turn', async () => {
    const model = aModel(() => [{ kind: 'gate', name: 'summary' }, ...textAnswer('SUMMARY OF BEFORE')]);
    const { gateway, sessionId } = await underPressure({ model });
    await gateway.submit(sessionId, 'next', trigger);
    await model.reached('summary');

    expect(gateway.admission(sessionId, 'next')).toMatchObject({ status: 'started', boundary: 'none' });
  });

  test('of a later compression gives the earlier summary apart, and there is never more than one (B14)', async () => {
    let count = 0;
    const model = aModel(() => textAnswer(`SUMMARY ${String((count += 1))}`));
    const { gateway, sessionId } = await underPressure({ model });
    for (let turn = 0; turn < 12; turn += 1) await gateway.turn(sessionId, `more-${String(turn)}`, textOf(100, 'more'));

    expect(count).toBeGreaterThan(1);
    expect(said(gateway.requests('summary')[1])[0]).toContain('<earlier_summary>\nSUMMARY 1\n</earlier_summary>');
    expect((await gateway.transcript(sessionId)).filter(({ kind }) => kind === 'summary')).toHaveLength(1);
  });
});

test('a compression in place keeps the transcript’s id, and the followers see its summary', async () => {
  const { gateway, sessionId } = await underPressure({ policy: { inPlace: true } });

  await gateway.turn(sessionId, 'next', trigger);
  await gateway.turn(sessionId, 'follower');

  expect((await gateway.state(sessionId)).lineage).toMatchObject({ tipId: sessionId, length: 1, compressions: 1 });
  expect(said(gateway.requests('turn').at(-1)).filter((text) => text.includes('SUMMARY OF BEFORE'))).toHaveLength(1);
});
