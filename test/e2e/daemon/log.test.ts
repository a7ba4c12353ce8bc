import { describe, expect, it } from 'vitest';
import type { DaemonLog } from '../../support/daemon-log.ts';
import { gatewayFile } from '../../support/daemon.ts';
import { errorAnswer, errorInStream, textAnswer } from '../../support/loopback-model/answers.ts';
import type { Answer } from '../../support/loopback-model/loopback-model.ts';
import { RawClient } from '../../support/raw-client.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

const key = 'sk-test-4f9a8b7c6d5e4f3a2b1c';
const prompt = 'my mother tongue is Volapük and my cat is called Zaphod';

describe('the log', () => {
  it('has one line for each step in the life of an admission', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon, log } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'first', 'a');
    await settled(client, session, 'a');
    await client.call('session.hold', { session_id: session });
    await submit(client, session, 'second', 'b');
    await submit(client, session, 'second', 'b');
    await client.call('prompt.cancel', { session_id: session, input_id: 'b' });
    await client.call('prompt.cancel', { session_id: session, input_id: 'b' });
    await client.call('session.release', { session_id: session });
    await daemon.kill('SIGTERM');

    const receipts = transitions(log);
    expect(receipts).toEqual([
      'session.created',
      'admission.queued a',
      'turn.started a',
      'turn.settled a completed',
      'session.held',
      'admission.queued b',
      'admission.cancelled b',
      'session.released',
    ]);
  });

  it('says which turns a kill has lost and who decided on them', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    stage.model.enqueue((call) => call.closed);
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    const { admission_id } = await submit(client, session, 'first', 'a');
    await stage.model.waitForRequests(1);
    await daemon.kill('SIGKILL');

    const { log } = await stage.start(home);
    const again = await stage.connect(home);
    const { execution_generation } = await again.call<{ execution_generation: number }>('prompt.receipt', {
      session_id: session,
      input_id: 'a',
    });
    await again.call('prompt.resolve_unknown', { session_id: session, admission_id, execution_generation });

    const about = log.lines.filter((line) => line['admissionId'] === admission_id);
    expect(about).toMatchObject([
      { message: 'turn.lost', boundary: 'model', executionGeneration: execution_generation },
      { message: 'turn.resolved', action: 'discard', by: 'local', executionGeneration: execution_generation },
    ]);
    expect(log.lines.find(({ message }) => message === 'ready')).toMatchObject({ lost: 1 });
  });

  const echoing: readonly (readonly [name: string, answer: Answer])[] = [
    [
      'a refused key',
      errorAnswer(401, { error: { message: `Incorrect API key provided: ${key}. Your prompt was: ${prompt}` } }),
    ],
    [
      'a bad request',
      errorAnswer(400, { error: { message: `bad: ${prompt}`, headers: { authorization: `Bearer ${key}` } } }),
    ],
    ['a broken server', errorAnswer(500, `<html>${prompt} Authorization: Bearer ${key}</html>`)],
    ['an error inside a stream', errorInStream({ error: { message: `${key} ${prompt}` } }, 'Well, ')],
    ['an answer that is no stream', (call) => call.send(200, `not an API: ${prompt} ${key}`)],
    ['an answer that repeats them', textAnswer(`You said: ${prompt}, with ${key}`)],
  ];

  it.each(echoing)('shows no key, token or prompt when the model server echoes them in %s', async (_, answer) => {
    const stage = await Stage.begin();
    const home = stage.home();
    stage.model.answerWith(answer);
    const { daemon, log } = await stage.start(home, { OPENAI_API_KEY: key });
    const client = await stage.connect(home);
    const session = await createSession(client);
    const token = gatewayFile(home)?.token ?? '';
    await submit(client, session, prompt, 'a');
    await settled(client, session, 'a');
    await client.request('prompt.submit', { session_id: session, input_id: 'a', text: `${prompt}!` });
    await client.request('prompt.submit', { session_id: session, input_id: prompt, text: 7 });
    await expect(RawClient.connect(gatewayFile(home)?.url ?? '', `${token}x`)).rejects.toThrow('401');
    const receipt = JSON.stringify(await client.call('prompt.receipt', { session_id: session, input_id: 'a' }));
    await daemon.kill('SIGTERM');

    expect(receipt).not.toContain(key);
    expect(daemon.output).not.toContain(key);
    expect(daemon.output).not.toContain(token);
    for (const words of ['Volapük', 'Zaphod']) expect(daemon.output).not.toContain(words);
    expect(transitions(log)).toContainEqual(expect.stringMatching(/^turn\.settled a /) as string);
  });

  it('at debug level shows no key and no token either', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    stage.model.answerWith(errorAnswer(401, { error: { message: `Incorrect API key provided: ${key}` } }));
    const { daemon } = await stage.start(home, { OPENAI_API_KEY: key, HOLDFAST_LOG_LEVEL: 'debug' });
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, prompt, 'a');
    await settled(client, session, 'a');
    const token = gatewayFile(home)?.token ?? '';
    await daemon.kill('SIGTERM');
    expect(daemon.output).not.toContain(key);
    expect(daemon.output).not.toContain(token);
  });
});

/** The lines about sessions and admissions, as type, input id and outcome. */
function transitions(log: DaemonLog): readonly string[] {
  const inputIds = new Map<unknown, unknown>();
  return log.lines
    .filter(({ message }) => /^(session|admission|turn|compression)\./.test(message))
    .map((line) => {
      if (line['inputId'] !== undefined) inputIds.set(line['admissionId'], line['inputId']);
      const parts = [line.message, inputIds.get(line['admissionId']), line['outcome']];
      return parts.filter((part) => typeof part === 'string').join(' ');
    });
}
