import { describe, expect, test } from 'vitest';
import { errorAnswer } from '../../support/loopback-model/answers.ts';
import { streamed } from '../../support/loopback-model/dialect.ts';
import type { Dialect } from '../../support/loopback-model/dialect.ts';
import { dialects } from '../../support/loopback-model/dialects.ts';
import type { Answer } from '../../support/loopback-model/loopback-model.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { Stage } from '../stage.ts';

const image = { type: 'image', media_type: 'image/png', data: Buffer.from('picture').toString('base64') };

/** Every provider lives at the same server and is told apart by what its wire adds to the address. */
const kinds = {
  'openai-compatible': { kind: 'openai-compatible' },
  'openai-chat': { kind: 'openai', interface: 'chat' },
  'openai-responses': { kind: 'openai' },
  anthropic: { kind: 'anthropic' },
  google: { kind: 'google' },
} as const satisfies Readonly<Record<Dialect['wire'], Readonly<Record<string, string>>>>;

function providersAt(stage: Stage, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => {
      const base_url = `${stage.model.origin}/${name}`;
      const entry = { ...kind, base_url, api_key_env: 'VENDOR_KEY', models: { m: { context_length: 50_000 } } };
      return [name, name in more ? { ...entry, ...(more[name] as object) } : entry];
    }),
  );
}

const answerOfVendor: Answer = (call) => {
  const dialect = dialects.find(({ wire }) => call.request.path.startsWith(`/${wire}/`));
  if (dialect === undefined) return call.send(404, 'nobody lives here');
  return streamed(dialect.frames({ reasoning: 'Hm.', text: `I am ${dialect.wire}.` }))(call);
};

const toolName = 'time';

/** Thinks and calls a tool twice at once; when there are results at the end of the request, thinks and answers. */
const toolsThenAnswer: Answer = (call) => {
  const dialect = dialects.find(({ wire }) => call.request.path.startsWith(`/${wire}/`));
  if (dialect === undefined) return call.send(404, 'nobody lives here');
  const calls = ['one', 'two'].map((id) => ({ id: `${dialect.wire.slice(0, 3)}${id}`, name: toolName, arguments: {} }));
  const said = endsWithResults(call.request.rawBody)
    ? { reasoning: 'So.', text: `It is late at ${dialect.wire}.` }
    : { reasoning: 'When?', text: 'Let me look.', calls };
  return streamed(dialect.frames(said))(call);
};

/** Whatever the wire calls them, results of tools come with these words, and a prompt with none of them. */
function endsWithResults(body: string): boolean {
  const { messages, input, contents } = JSON.parse(body) as Readonly<Record<string, readonly unknown[] | undefined>>;
  const last = JSON.stringify((messages ?? input ?? contents ?? []).at(-1));
  return /"tool_result"|"functionResponse"|"function_call_output"|"role":"tool"/.test(last);
}

async function turn(client: RawClient, sessionId: string, inputId: string): Promise<unknown> {
  const parts = [{ type: 'text', text: 'Who are you?' }, image];
  await client.call('prompt.submit', { session_id: sessionId, input_id: inputId, parts });
  return client.call('prompt.wait', { session_id: sessionId, input_id: inputId, timeout_ms: 20_000 });
}

describe('a gateway with providers of every kind', () => {
  test('runs a session on each, over a restart, and every request is one that its vendor takes', async () => {
    const stage = await Stage.begin();
    stage.model.answerWith(answerOfVendor);
    const home = stage.home({
      model: { provider: 'anthropic', default: 'm', retries: { max_attempts: 1 } },
      providers: providersAt(stage),
    });
    const environment = { VENDOR_KEY: 'sk-vendor-0123456789' };
    const first = await stage.start(home, environment);
    let client = await stage.connect(home);
    const sessions = new Map<string, string>();
    for (const { wire } of dialects) {
      const base_url = `${stage.model.origin}/${wire}`;
      const created = await client.call('session.create', { provider: wire, model: 'm', base_url });
      sessions.set(wire, (created as { session_id: string }).session_id);
      expect(await turn(client, sessions.get(wire) ?? '', 'a')).toMatchObject({ outcome: 'completed' });
    }
    await first.daemon.kill('SIGKILL');
    const second = await stage.start(home, environment);
    client = await stage.connect(home);

    for (const { wire } of dialects) {
      const session_id = sessions.get(wire) ?? '';
      expect(await turn(client, session_id, 'b')).toMatchObject({ outcome: 'completed' });
      const { messages } = await client.call<{ messages: readonly unknown[] }>('session.resume', { session_id });
      expect(messages.filter((message) => (message as { kind: string }).kind === 'answer')).toEqual([
        expect.objectContaining({ text: `I am ${wire}.`, answered_by: { provider: wire, model: 'm' } }),
        expect.objectContaining({ text: `I am ${wire}.`, answered_by: { provider: wire, model: 'm' } }),
      ]);
    }

    expect(stage.model.requests).toHaveLength(2 * dialects.length);
    for (const { path, rawBody, headers } of stage.model.requests) {
      const dialect = dialects.find(({ wire }) => path.startsWith(`/${wire}/`));
      expect(dialect?.faults(JSON.parse(rawBody))).toEqual([]);
      expect(headers).toMatchObject(dialect?.keyHeader('sk-vendor-0123456789') ?? {});
      expect(rawBody).toContain(image.data);
    }
    const listed = await client.call('model.list', {});
    expect(listed).toMatchObject({
      models: expect.arrayContaining([expect.objectContaining({ default: true })]) as unknown,
    });
    expect(`${first.daemon.output}${second.daemon.output}`).not.toContain('sk-vendor');
  });

  test('moves one session from vendor to vendor: its images, calls, results and thoughts stay valid everywhere', async () => {
    const stage = await Stage.begin();
    stage.model.answerWith(toolsThenAnswer);
    const home = stage.home({
      model: { provider: 'anthropic', default: 'm', retries: { max_attempts: 1 } },
      toolsets: { clock: ['builtin'] },
      providers: providersAt(stage),
    });
    await stage.start(home, { VENDOR_KEY: 'sk-vendor-0123456789' });
    const client = await stage.connect(home);
    const { session_id } = await client.call<{ session_id: string }>('session.create', { toolsets: ['clock'] });
    const stations = [...dialects, ...dialects.toReversed()];
    let called = 0;

    for (const [index, { wire, faults }] of stations.entries()) {
      const base_url = `${stage.model.origin}/${wire}`;
      await client.call('session.update', { session_id, model: 'm', provider: wire, base_url });
      const before = stage.model.requests.length;
      expect(await turn(client, session_id, `at-${String(index)}`), wire).toMatchObject({ outcome: 'completed' });
      const sent = stage.model.requests.slice(before);

      expect(sent, wire).toHaveLength(2);
      for (const [step, { path, rawBody }] of sent.entries()) {
        expect(path.startsWith(`/${wire}/`), `${wire} ${path}`).toBe(true);
        expect(faults(JSON.parse(rawBody)), `${wire}, request ${String(index)}.${String(step)}`).toEqual([]);
        expect(rawBody.split(image.data).length - 1, wire).toBe(index + 1);
        called = rawBody.split(`"${toolName}"`).length - 1;
      }
    }

    // Two calls of each turn, and the tool's own definition.
    expect(called).toBeGreaterThanOrEqual(2 * stations.length + 1);
  });

  test('refuses an address that is not configured', async () => {
    const stage = await Stage.begin();
    const home = stage.home({ providers: providersAt(stage) });
    await stage.start(home);
    const client = await stage.connect(home);

    const { error } = await client.request('session.create', {
      provider: 'anthropic',
      model: 'm',
      base_url: 'http://127.0.0.1:9',
    });

    expect(error).toMatchObject({
      data: {
        reason: 'invalid_params',
        fields: [{ path: 'base_url', message: expect.stringContaining('anthropic') as unknown }],
      },
    });
    expect(stage.model.requests).toEqual([]);
  });

  test('asks the fallbacks of a vendor that refuses the key, and says who answered', async () => {
    const stage = await Stage.begin();
    const refused = errorAnswer(401, {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid key' },
    });
    stage.model.answerWith((call) => (call.request.path.startsWith('/anthropic/') ? refused : answerOfVendor)(call));
    const home = stage.home({
      model: { provider: 'anthropic', default: 'm' },
      providers: providersAt(stage, { anthropic: { fallbacks: [{ provider: 'google', model: 'm' }] } }),
    });
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const { session_id } = await client.call<{ session_id: string }>('session.create', {});

    expect(await turn(client, session_id, 'a')).toMatchObject({ outcome: 'completed' });

    const { messages } = await client.call<{ messages: readonly unknown[] }>('session.resume', { session_id });
    expect(messages.at(-1)).toMatchObject({ text: 'I am google.', answered_by: { provider: 'google', model: 'm' } });
    expect(daemon.output).toContain('the next one of its fallbacks is asked');
  });
});
