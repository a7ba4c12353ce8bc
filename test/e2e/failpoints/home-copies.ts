import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Daemon, TestHome } from '../../support/daemon.ts';
import { Bookkeeper } from '../books/bookkeeper.ts';
import { Books } from '../books/books.ts';
import { promptText } from '../books/prompt-text.ts';
import type { Witness, WitnessServer } from '../books/witness.ts';

/** Where a scenario begins: a home in which something has happened, with the books and the witness of it. */
export interface Beginning {
  readonly home: TestHome | null;
  readonly books: Books;
  readonly witness: Witness | null;
}

export type BeginningName = 'nothing' | 'a long session' | 'a lost turn' | 'a lost start';

/** What is over the trigger together with the answers of a long session. */
const triggerPadding = 'and more words '.repeat(110);
export const triggerText = (tag: string): string => promptText(tag, 'plain', 0, triggerPadding);

/** Tokens of a request from which on the preflight compresses. */
const triggerTokens = 3000;

export function homeConfig(url: string, compresses: boolean, drainSeconds = 0.2, inPlace = false): object {
  return {
    model: { provider: 'custom', default: 'witness-model', base_url: url, context_length: 64_000 },
    compression: {
      protect_first_n: 1,
      protect_last_n: 2,
      threshold_tokens: compresses ? triggerTokens : null,
      in_place: inPlace,
    },
    shutdown: { drain_seconds: drainSeconds },
  };
}

/** What a scenario says about the tool that appends to the journal. */
export interface JournalTool {
  readonly approval: 'always' | 'ask';
  readonly expirySeconds?: number;
}

/** A session of these tests gets the tool by its source. */
export function journalConfig(home: TestHome, { approval, expirySeconds = 600 }: JournalTool): object {
  const server = fileURLToPath(new URL('../../support/mcp/servers/appends-lines.mjs', import.meta.url));
  const journal = { command: process.execPath, args: [server], env: { JOURNAL: journalPath(home) }, approval };
  return {
    mcp_servers: { journal },
    toolsets: { all: ['journal.append'] },
    platform_toolsets: { test: ['all'] },
    approvals: { expiry_seconds: expirySeconds },
  };
}

/** What the tool has written. */
export function journalOf(home: TestHome): readonly string[] {
  const path = journalPath(home);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

function journalPath(home: TestHome): string {
  return join(home.path, 'journal.txt');
}

export function daemonEnvironment(witness: Witness): Readonly<Record<string, string>> {
  return { OPENAI_API_KEY: witness.key };
}

/** Makes each beginning once; every run gets a copy of it. */
export async function makeBeginnings(server: WitnessServer): Promise<Readonly<Record<BeginningName, Beginning>>> {
  const long = await aLongSession(server);
  return {
    nothing: { home: null, books: new Books(), witness: null },
    'a long session': long,
    'a lost turn': await aLostTurn(server),
    'a lost start': await aLostStart(server, long),
  };
}

/** A home that is another one's copy, as it lies on the disk. */
export function copyHome(from: TestHome | null, config: unknown): TestHome {
  const copy = new TestHome(config);
  if (from === null) return copy;
  const ofProcess = new Set(['config.yaml', 'gateway.json', 'gateway.lock', 'last-port', 'state.db-shm']);
  for (const name of readdirSync(from.path)) {
    if (!ofProcess.has(name)) cpSync(join(from.path, name), join(copy.path, name));
  }
  return copy;
}

/** Three long answers: one more prompt of some length is over the trigger. */
async function aLongSession(server: WitnessServer): Promise<Beginning> {
  const witness = server.witness('key-of-a-long-session');
  const home = new TestHome(homeConfig(server.url, false));
  const books = new Books();
  const { daemon, client } = await serve(home, books, witness);
  const session = await client.create('s1');
  await client.follow(session);
  for (const name of ['p1', 'p2', 'p3']) await client.submit(session, name, promptText(`s1.${name}`, 'long', 3600));
  for (const prompt of session.prompts.values()) await client.settled(session, prompt);
  await client.listenUntil(session, await client.lastSeq(session));
  await daemon.kill('SIGTERM');
  return { home, books, witness };
}

/** A turn that died in its request, and two followers behind it. */
async function aLostTurn(server: WitnessServer): Promise<Beginning> {
  const witness = server.witness('key-of-a-lost-turn');
  const home = new TestHome(homeConfig(server.url, false));
  const books = new Books();
  const { daemon, client } = await serve(home, books, witness);
  const session = await client.create('s1');
  await client.submit(session, 'p1', promptText('s1.p1', 'park'));
  for (const name of ['p2', 'p3']) await client.submit(session, name, promptText(`s1.${name}`));
  await witness.arrived('s1.p1');
  await daemon.kill('SIGKILL');
  return { home, books, witness };
}

/** A turn that died while its preflight waited for the summary, and a follower behind it. */
async function aLostStart(server: WitnessServer, long: Beginning): Promise<Beginning> {
  const witness = server.witness('key-of-a-lost-start', long.witness);
  const home = copyHome(long.home, homeConfig(server.url, true));
  const books = long.books.copy();
  witness.summaries = 'park';
  const { daemon, client } = await serve(home, books, witness);
  const session = books.session('s1');
  await client.submit(session, 'p4', triggerText('s1.p4'));
  await client.submit(session, 'p5', promptText('s1.p5'));
  await witness.arrived('summary');
  await daemon.kill('SIGKILL');
  return { home, books, witness };
}

async function serve(home: TestHome, books: Books, witness: Witness): Promise<{ daemon: Daemon; client: Bookkeeper }> {
  const daemon = await Daemon.start(home, daemonEnvironment(witness));
  return { daemon, client: await Bookkeeper.connect(books, home) };
}
