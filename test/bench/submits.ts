import { randomUUID } from 'node:crypto';
import { Daemon, TestHome, connect } from '../support/daemon.ts';
import type { RawClient } from '../support/raw-client.ts';
import { measureBareLoop } from './floors.ts';
import { percent, percentile, perSecond, ms } from './statistics.ts';

const durationMs = 4000;
const text = 'Please summarise the notes of the last meeting and list the open questions. '.repeat(3);

/** Durable submits per second, each socket with one unanswered call, as a share of a bare better-sqlite3 loop. */
export async function benchSubmits(): Promise<void> {
  console.log('sockets  sessions  submits/s  p50        p99        bare loop prompts/s (batch)  share');
  for (const [sockets, sessions] of [
    [1, 1],
    [100, 1],
    [100, 100],
  ] as const) {
    const home = new TestHome({
      gateway: { max_queued_per_session: 100_000, max_calls_per_second: 1_000_000, max_connections: 1000 },
      logging: { level: 'error' },
    });
    const daemon = await Daemon.start(home);
    const clients = await Promise.all(Array.from({ length: sockets }, () => connect(home)));
    const ids = await heldSessions(clients[0], sessions);
    const { count, elapsedMs, latencies } = await submitAll(clients, ids);
    for (const client of clients) client.close();
    await daemon.kill('SIGTERM');
    home.remove();
    const bare = measureBareLoop(sockets, text, durationMs / 2);
    const rate = perSecond(count, elapsedMs);
    console.log(
      [
        String(sockets).padEnd(8),
        String(sessions).padEnd(9),
        rate.toFixed(0).padEnd(10),
        ms(percentile(latencies, 0.5)).padEnd(10),
        ms(percentile(latencies, 0.99)).padEnd(10),
        `${bare.toFixed(0)} (${String(sockets)})`.padEnd(28),
        percent(rate / bare),
      ].join(' '),
    );
  }
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

async function submitAll(
  clients: readonly RawClient[],
  sessions: readonly string[],
): Promise<{ count: number; elapsedMs: number; latencies: readonly number[] }> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const submit = async (client: RawClient, index: number): Promise<void> => {
    const session_id = sessions[index % sessions.length];
    while (performance.now() - startedAt < durationMs) {
      const sentAt = performance.now();
      await client.call('prompt.submit', { session_id, input_id: randomUUID(), text });
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(clients.map(submit));
  return { count: latencies.length, elapsedMs: performance.now() - startedAt, latencies };
}
