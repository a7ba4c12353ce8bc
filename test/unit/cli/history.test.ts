import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../../src/protocol/registry.ts';
import { temporaryHome } from '../config/temporary-home.ts';
import { FakeGateway, Refused, type Script } from './fake-gateway.ts';
import { documentOf, errorOf, runCommand } from './run-command.ts';
import { aReceipt, aSnapshot } from './wire-builders.ts';

const at = '2030-01-01T00:00:00.000Z';
const hostile = 'x\u001b[2J\u202ey\u009b31m';
const harmless = /^(?:[^\p{Cc}\u202e]|\n)*$/u;

async function given(script: Script): Promise<{ readonly home: string; readonly gateway: FakeGateway }> {
  const home = temporaryHome();
  return { home, gateway: await FakeGateway.start(home, script) };
}

describe('lineage', () => {
  type Compression = ResultOf<'session.lineage'>['compressions'][number];
  const aCompression = (fields: Partial<Compression> = {}): Compression => ({
    compression_id: 'c1',
    trigger: 'preflight',
    status: 'completed',
    parent_transcript: 's1',
    child_transcript: 't2',
    admission_id: 'a1',
    tokens_before: 900,
    tokens_after: 300,
    model: 'my-model',
    started_at: at,
    ended_at: at,
    ...fields,
  });
  const transcript = { started_at: at, ended_at: null, end_reason: null, message_count: 4 };
  const lineage: ResultOf<'session.lineage'> = {
    session_id: 's1',
    stored_session_id: 't2',
    transcripts: [
      { ...transcript, id: 's1', parent_id: null, ended_at: at, end_reason: 'compression' },
      { ...transcript, id: 't2', parent_id: 's1' },
    ],
    compressions: [
      aCompression(),
      aCompression({ compression_id: 'c2', parent_transcript: 't2', trigger: 'manual' }),
      aCompression({
        compression_id: 'c3',
        status: 'failed',
        child_transcript: null,
        tokens_after: null,
        model: null,
        failure: { reason: 'unavailable', message: `Down. ${hostile}`, retryable: true, provider_status: 503 },
      }),
    ],
  };

  test('shows each transcript and what each compression did', async () => {
    const { home, gateway } = await given({ 'session.lineage': () => lineage });

    const { code, stdout } = await runCommand(['lineage', 't2', '--home', home]);

    expect(code).toBe(0);
    expect(gateway.paramsOf('session.lineage')).toEqual([{ session_id: 't2' }]);
    expect(stdout).toMatch(/^s1 .* 4 +closed .* \(compression\)$/m);
    expect(stdout).toMatch(/^t2 .* 4 +open$/m);
    expect(stdout).toMatch(/^c1 .* preflight +900 +300 +s1 +goes on in t2, by my-model$/m);
    expect(stdout).toMatch(/^c2 .* manual .* in place, by my-model$/m);
    expect(stdout).toMatch(/^c3 .* – +s1 +failed: Down\./m);
    expect(stdout).toMatch(harmless);
  });

  test('is the whole answer with --json', async () => {
    const { home } = await given({ 'session.lineage': () => lineage });

    expect(documentOf((await runCommand(['lineage', 's1', '--json', '--home', home])).stdout)).toEqual(lineage);
  });

  test('says that nothing was compressed, and of an unknown session that there is none', async () => {
    const { home } = await given({
      'session.lineage': ({ session_id }) =>
        session_id === 's1'
          ? { ...lineage, compressions: [] }
          : new Refused('not_found', 'There is no such session.', { what: 'session' }),
    });

    expect((await runCommand(['lineage', 's1', '--home', home])).stdout).toContain('It was never compressed.');
    expect(await runCommand(['lineage', 'other', '--home', home])).toMatchObject({
      code: 1,
      stderr: 'There is no such session.\n',
    });
  });
});

describe('search', () => {
  type Hit = ResultOf<'session.search'>['hits'][number];
  const aHit = (fields: Partial<Hit> = {}): Hit => ({
    session_id: 's1',
    title: 'Trip',
    transcript: 't1',
    message_id: 7,
    role: 'assistant',
    kind: 'answer',
    admission_id: 'a1',
    snippet: 'a zebra crossing',
    at,
    ...fields,
  });

  test('shows what was found, in all sessions or in one', async () => {
    const { home, gateway } = await given({
      'session.search': () => ({ hits: [aHit(), aHit({ truncated: true })], next_cursor: null, behind: false }),
    });

    const { code, stdout, stderr } = await runCommand(['search', 'zebra', '--home', home]);
    await runCommand(['search', 'zebra', '--session', 's1', '--limit', '5', '--home', home]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^s1 +7 .* assistant +a zebra crossing$/m);
    expect(stdout).toMatch(/a zebra crossing …$/m);
    expect(gateway.paramsOf('session.search')).toEqual([
      { query: 'zebra', limit: 20 },
      { query: 'zebra', limit: 5, session_id: 's1' },
    ]);
  });

  test('reads on until it has enough, and says when there is more and when the index is behind', async () => {
    const page = { hits: [aHit()], next_cursor: 'more' };
    const { home, gateway } = await given({
      'session.search': ({ cursor }) => ({ ...page, behind: cursor === undefined }),
    });

    const { stdout, stderr } = await runCommand(['search', 'zebra', '--limit', '2', '--home', home]);
    const asJson = await runCommand(['search', 'zebra', '--limit', '2', '--json', '--home', home]);

    expect(stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(stderr).toBe(
      "There are more: --limit 4\nThe index is still catching up, or is not available (the gateway's log says which): messages may be missing.\n",
    );
    expect(gateway.paramsOf('session.search').slice(0, 2)).toEqual([
      { query: 'zebra', limit: 2 },
      { query: 'zebra', limit: 1, cursor: 'more' },
    ]);
    expect(asJson).toMatchObject({ stderr: '' });
    expect(documentOf(asJson.stdout)).toEqual({ hits: [aHit(), aHit()], next_cursor: 'more', behind: true });
  });

  test('may find nothing, and cannot be made to write to the terminal', async () => {
    const { home } = await given({
      'session.search': ({ query }) => ({
        hits: query === 'none' ? [] : [aHit({ snippet: `${hostile}\nfake line` })],
        next_cursor: null,
        behind: false,
      }),
    });

    expect((await runCommand(['search', 'none', '--home', home])).stdout).toBe('Nothing was found.\n');
    const { stdout } = await runCommand(['search', 'zebra', '--home', home], { terminal: true });
    expect(stdout).toMatch(harmless);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('export', () => {
  const pages: Script = {
    'session.export': ({ session_id, cursor, format }) => ({
      session_id,
      text: cursor === undefined ? `# Trip (${String(format)})\n` : `${hostile}\n`,
      next_cursor: cursor === undefined ? 'next' : null,
    }),
  };
  const document = `# Trip (markdown)\n${hostile}\n`;

  test('writes the document to stdout as it is, and so that it is harmless to a terminal', async () => {
    const { home } = await given(pages);

    expect(await runCommand(['export', 's1', '--home', home])).toEqual({ code: 0, stdout: document, stderr: '' });
    const shown = await runCommand(['export', 's1', '--home', home], { terminal: true });
    expect(shown.stdout).toMatch(harmless);
    expect(shown.stdout).toContain('# Trip (markdown)\n');
  });

  test('writes a file that only its owner may read, and says where it is', async () => {
    const { home } = await given(pages);
    const folder = temporaryHome();
    const file = join(folder, 'trip.md');

    const ran = await runCommand(['export', 's1', '--output', file, '--json', '--home', home]);

    expect(documentOf(ran.stdout)).toEqual({
      session_id: 's1',
      format: 'markdown',
      output: file,
      bytes: Buffer.byteLength(document),
    });
    expect(readFileSync(file, 'utf8')).toBe(document);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['trip.md']);
  });

  test('leaves an existing file alone without --force', async () => {
    const { home, gateway } = await given(pages);
    const file = join(temporaryHome(), 'trip.md');
    writeFileSync(file, 'mine', { mode: 0o644 });
    const argv = ['export', 's1', '--output', file, '--home', home];

    const refused = await runCommand(argv);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('--force');
    expect([readFileSync(file, 'utf8'), gateway.calls]).toEqual(['mine', []]);

    expect(await runCommand([...argv, '--force'])).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(document);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('that fails half-way leaves what was there', async () => {
    const { home } = await given({
      'session.export': ({ session_id, cursor }) =>
        cursor === undefined
          ? { session_id, text: 'half of it', next_cursor: 'next' }
          : new Refused('not_found', 'There is no such session.', { what: 'session' }),
    });
    const folder = temporaryHome();
    const file = join(folder, 'trip.md');
    writeFileSync(file, 'mine');

    const { code } = await runCommand(['export', 's1', '--output', file, '--force', '--home', home]);
    const other = await runCommand(['export', 's1', '--output', join(folder, 'new.md'), '--home', home]);

    expect([code, other.code]).toEqual([1, 1]);
    expect(readdirSync(folder)).toEqual(['trip.md']);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('to a folder that is not there ends with 74 and says why', async () => {
    const { home } = await given(pages);
    const file = join(temporaryHome(), 'nowhere', 'trip.md');

    const { code, stderr } = await runCommand(['export', 's1', '--output', file, '--json', '--home', home]);

    expect(code).toBe(74);
    expect(errorOf(stderr)).toMatchObject({ reason: 'not_written' });
  });

  test.each([
    [['--json'], 'json'],
    [['--format', 'json'], 'json'],
    [['--json', '--format', 'json'], 'json'],
    [[], 'markdown'],
  ])('with %j asks for %s', async (flags, format) => {
    const { home, gateway } = await given({
      'session.export': ({ session_id }) => ({ session_id, text: '{}', next_cursor: null }),
    });

    expect(await runCommand(['export', 's1', ...flags, '--home', home])).toMatchObject({ code: 0, stdout: '{}' });
    expect(gateway.paramsOf('session.export')).toEqual([{ session_id: 's1', format }]);
  });

  test.each([
    ['--json', '--format', 'markdown'],
    ['--format', 'pdf'],
  ])('with %s %s %s is not understood', async (...flags) => {
    expect(await runCommand(['export', 's1', ...flags])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('steer', () => {
  const running = {
    admission_id: 'a1',
    input_id: 'i1',
    execution_generation: 5,
    step: 1,
    boundary: 'model',
    started_at: at,
    stop_requested: false,
  } as const;
  const script: Script = {
    'session.resume': () => aSnapshot({ running }),
    'session.steer': ({ input_id }) =>
      aReceipt({ input_id, delivery: 'steer', steers_generation: 5, if_over: 'cancel' }),
  };

  test('aims at the turn that runs', async () => {
    const { home, gateway } = await given(script);

    const { code, stdout } = await runCommand(['steer', 's1', 'Be quick.', '--input-id', 'x', '--home', home]);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^a1 {2}.*\(input id x\)\n$/);
    expect(gateway.paramsOf('session.steer')).toEqual([
      { session_id: 's1', execution_generation: 5, input_id: 'x', text: 'Be quick.' },
    ]);
  });

  test('with a generation asks for no snapshot, and says what becomes of it if the turn is over', async () => {
    const { home, gateway } = await given(script);

    const argv = ['steer', 's1', '-', '--generation', '3', '--if-over', 'queue', '--json', '--home', home];
    const { stdout } = await runCommand(argv, { stdin: 'From stdin.' });

    expect(documentOf(stdout)).toMatchObject({ delivery: 'steer', steers_generation: 5 });
    expect(gateway.calls.map(({ method }) => method)).toEqual(['session.steer']);
    expect(gateway.paramsOf('session.steer')).toMatchObject([
      {
        execution_generation: 3,
        if_over: 'queue',
        text: 'From stdin.',
        input_id: expect.stringMatching(/^cli-/) as string,
      },
    ]);
  });

  test('ends with 1 when no turn runs', async () => {
    const { home, gateway } = await given({ ...script, 'session.resume': () => aSnapshot() });

    const { code, stderr } = await runCommand(['steer', 's1', 'Be quick.', '--json', '--home', home]);

    expect(code).toBe(1);
    expect(errorOf(stderr)).toMatchObject({ reason: 'turn_over', retryable: false });
    expect(gateway.paramsOf('session.steer')).toEqual([]);
  });

  test('that was not answered says how to say it once', async () => {
    const { home } = await given({
      ...script,
      'session.steer': (_params, gateway) => {
        gateway.kill();
        return null;
      },
    });

    const { code, stderr } = await runCommand(['steer', 's1', 'Be quick.', '--input-id', 'x', '--home', home]);

    expect(code).toBe(69);
    expect(stderr).toContain('holdfast steer s1 --generation 5 --input-id x');
  });

  test.each([
    [['steer', 's1', ' ']],
    [['steer', 's1', 'x', '--generation', '-1']],
    [['steer', 's1', 'x', '--if-over', 'wait']],
    [['steer', 's1']],
  ])('%j is not understood', async (argv) => {
    expect(await runCommand(argv)).toMatchObject({ code: 2, stdout: '' });
  });
});
