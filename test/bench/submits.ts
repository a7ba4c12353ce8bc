import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Daemon, TestHome, connect } from '../support/daemon.ts';
import type { RawClient } from '../support/raw-client.ts';
import { measureBareLoop } from './floors.ts';
import { percent, percentile, perSecond, ms } from './statistics.ts';

const durationMs = 4000;
const text = 'Please summarise the notes of the last meeting and list the open questions. '.repeat(3);

/** So many prompts wait in a session at most; then the sockets go on with the next one. */
const queueLimit = 1_000;
/** More than are filled in the time. */
const spareSessions = 80;

/**
 * Durable submits per second, each socket with one unanswered call, to one session at a time or each to its own, as a
 * share of a bare better-sqlite3 loop that writes to as many sessions in transactions of the size that the gateway's
 * own commits had.
 */
export async function benchSubmits(): Promise<void> {
  console.log('sockets  sessions  submits/s  p50        p99        a commit  bare loop  share');
  for (const [sockets, sessions] of [
    [1, 1],
    [100, 1],
    [100, 100],
  ] as const) {
    const home = new TestHome({
      gateway: { max_queued_per_session: queueLimit + sockets, max_calls_per_second: 1_000_000, max_connections: 1000 },
      logging: { level: 'error' },
    });
    const daemon = await Daemon.start(home);
    const clients = await Promise.all(Array.from({ length: sockets }, () => connect(home)));
    const ids = await heldSessions(clients[0], sessions === 1 ? spareSessions : sessions);
    const before = commitsOf(home);
    const { count, elapsedMs, latencies } = await submitAll(clients, (socket, submitted) => {
      const index = sessions === 1 ? Math.floor(submitted / queueLimit) : socket;
      return ids[index % ids.length] ?? '';
    });
    const batch = count / (commitsOf(home) - before);
    for (const client of clients) client.close();
    await daemon.kill('SIGTERM');
    home.remove();
    const bare = measureBareLoop({ batch: Math.round(batch), sessions }, text, durationMs / 2);
    const rate = perSecond(count, elapsedMs);
    console.log(
      [
        String(sockets).padEnd(8),
        String(sessions).padEnd(9),
        rate.toFixed(0).padEnd(10),
        ms(percentile(latencies, 0.5)).padEnd(10),
        ms(percentile(latencies, 0.99)).padEnd(10),
        batch.toFixed(1).padEnd(9),
        bare.toFixed(0).padEnd(10),
        percent(rate / bare),
      ].join(' '),
    );
  }
}

/** How many transactions the store has committed. */
function commitsOf(home: TestHome): number {
  const db = new Database(join(home.path, 'state.db'), { readonly: true });
  const commits = db.prepare<[], number>('SELECT commits FROM runtime_epoch').pluck().get() ?? 0;
  db.close();
  return commits;
}

/** Sessions whose queue is paused, so that nothing but submits happens. */
async function heldSessions(client: RawClient | undefined, count: number): Promise<readonly string[]> {
  if (client === undefined) return [];
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { session_id: id } = await client.call<{ session_id: string }>('session.create', { source: 'bench' });
    await client.call('session.hold', { session_id: id, reason: 'bench' });
    await client.call('session.unsubscribe', { session_id: id });
    ids.push(id);
  }
  return ids;
}

/** `sessionOf` names the session for a socket's next prompt, by how many were submitted before it over all. */
async function submitAll(
  clients: readonly RawClient[],
  sessionOf: (socket: number, submitted: number) => string,
): Promise<{ count: number; elapsedMs: number; latencies: readonly number[] }> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const submit = async (client: RawClient, socket: number): Promise<void> => {
    while (performance.now() - startedAt < durationMs) {
      const session_id = sessionOf(socket, latencies.length);
      const sentAt = performance.now();
      await client.call('prompt.submit', { session_id, input_id: randomUUID(), text });
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(clients.map(submit));
  return { count: latencies.length, elapsedMs: performance.now() - startedAt, latencies };
}
