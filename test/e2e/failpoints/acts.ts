import type { Daemon } from '../../support/daemon.ts';
import type { DaemonLog } from '../../support/daemon-log.ts';
import type { Bookkeeper } from '../books/bookkeeper.ts';
import { nextApproval, respond } from '../books/approvals.ts';
import type { ApprovalAnswer } from '../books/approvals.ts';
import type { BookedPrompt, BookedSession } from '../books/books.ts';
import { promptText } from '../books/prompt-text.ts';
import type { Wish } from '../books/prompt-text.ts';
import type { Witness } from '../books/witness.ts';
import type { BeginningName, JournalTool } from './home-copies.ts';

/** What a scenario has at hand. Every call may be cut short by the death of the daemon. */
export interface Act {
  readonly client: Bookkeeper;
  readonly witness: Witness;
  readonly daemon: Daemon;
  readonly log: DaemonLog;
  /** Waits for something that may never come when the daemon dies. */
  readonly unlessDead: <T>(what: Promise<T>) => Promise<T>;
}

export interface Scenario {
  readonly name: string;
  readonly from: BeginningName;
  readonly compresses: boolean;
  readonly drainSeconds?: number;
  readonly inPlace?: boolean;
  /** Its sessions have a tool. */
  readonly tool?: JournalTool;
  /** Set up before the daemon starts. */
  readonly summaries?: Witness['summaries'];
  /** What a client does from the start on; null: the start itself is what may die. */
  readonly act: ((act: Act) => Promise<void>) | null;
  /** The places at which the daemon dies in every run of the tests: `name`, or `name@n` for the n-th time it is passed. */
  readonly points: readonly string[];
  /** The places at which something is thrown, as a bug would. */
  readonly bugs?: readonly string[];
  /** How an unknown turn that it leaves behind is resolved. */
  readonly onUnknown?: 'discard' | 'retry';
}

export const commit = (command: string, nth = ''): readonly string[] =>
  ['before_commit', 'after_commit', 'after_publish'].map((place) => `${command}.${place}${nth}`);
export const request = (kind: 'model' | 'summary', nth = ''): readonly string[] =>
  ['before_send', 'first_event', 'after_answer'].map((place) => `${kind}.${place}${nth}`);
export async function newSession(client: Bookkeeper): Promise<BookedSession> {
  const session = await client.create('s1');
  await client.follow(session);
  return session;
}

export async function knownSession(client: Bookkeeper): Promise<BookedSession> {
  const session = client.books.session('s1');
  await client.follow(session);
  return session;
}

export async function ask(
  client: Bookkeeper,
  session: BookedSession,
  name: string,
  wish: Wish = 'plain',
  text = promptText(`${session.name}.${name}`, wish, wish === 'slow' ? 1 : 0),
): Promise<BookedPrompt> {
  const refused = await client.submit(session, name, text);
  if (refused !== null) throw new Error(`${name} was refused as ${refused.refused}`);
  return client.books.asking(session, name, text);
}

export async function ended(client: Bookkeeper, session: BookedSession, prompt: BookedPrompt): Promise<void> {
  await client.settled(session, prompt);
}

export async function allEnded(client: Bookkeeper, session: BookedSession): Promise<void> {
  for (const prompt of session.prompts.values()) await client.settled(session, prompt);
}

export async function resolveFirst(
  client: Bookkeeper,
  session: BookedSession,
  action: 'discard' | 'retry',
): Promise<void> {
  const [first] = session.prompts.values();
  if (first === undefined) throw new Error('the session has no prompt');
  await client.receipt(session, first);
  await client.resolve(session, first, action);
  await allEnded(client, session);
}

/** A prompt whose turn uses the tool, and a follower; the call is answered when it asks. */
export async function askForTool({ client, unlessDead }: Act, answer: ApprovalAnswer | null): Promise<void> {
  const session = await newSession(client);
  await ask(client, session, 'p1', 'append');
  await ask(client, session, 'p2');
  if (answer !== null) await respond(client, session, await unlessDead(nextApproval(client, session)), answer);
  await allEnded(client, session);
}
