import { Daemon, TestHome, connect } from '../support/daemon.ts';
import type { RawClient } from '../support/raw-client.ts';
import { measureFsync } from './floors.ts';
import { ms, percentile } from './statistics.ts';
import { ZeroModel } from './zero-model.ts';

const sessions = 4;
const windows = { 10: [6, 25], 500: [491, 510] } as const;
const lastTurn = 510;

/**
 * The gateway's own time for a turn: from the submit frame written to `turn.settled` read, less the time inside the
 * model. The aim: a p50 under three fsyncs of this disk plus 3 ms, at turn 10 and at turn 500 alike.
 */
export async function benchTurns(): Promise<void> {
  const fsyncMs = measureFsync();
  const model = await ZeroModel.start();
  const home = new TestHome({
    model: { provider: 'custom', default: 'zero', base_url: model.url, context_length: 10_000_000 },
    logging: { level: 'error' },
  });
  const daemon = await Daemon.start(home);
  const client = await connect(home);
  const samples = new Map<number, number[]>([
    [10, []],
    [500, []],
  ]);
  for (let index = 0; index < sessions; index += 1) await runSession(client, model, samples);
  client.close();
  await daemon.kill('SIGTERM');
  await model.stop();
  home.remove();
  const after = measureFsync();
  const floor = (fsyncMs + after) / 2;
  const aim = 3 * floor + 3;
  console.log(`fsync of 4 KiB: ${ms(floor)} (before ${ms(fsyncMs)}, after ${ms(after)}); aim for p50: ${ms(aim)}`);
  for (const [turn, own] of samples) {
    const p50 = percentile(own, 0.5);
    const verdict = p50 < aim ? 'reached' : 'missed';
    console.log(`turn ${String(turn).padEnd(4)} p50 ${ms(p50)}  p99 ${ms(percentile(own, 0.99))}  aim ${verdict}`);
  }
}

async function runSession(client: RawClient, model: ZeroModel, samples: Map<number, number[]>): Promise<void> {
  const { session_id } = await client.call<{ session_id: string }>('session.create', { source: 'bench' });
  for (let turn = 1; turn <= lastTurn; turn += 1) {
    const input_id = `turn-${String(turn)}`;
    client.events.length = 0;
    model.insideMs = 0;
    const startedAt = performance.now();
    const submitted = client.call<{ admission_id: string }>('prompt.submit', {
      session_id,
      input_id,
      text: 'One more turn, please.',
    });
    await client.event(({ type, session_id: of }) => type === 'turn.settled' && of === session_id);
    const ownMs = performance.now() - startedAt - model.insideMs;
    await submitted;
    for (const [at, [first, last]] of Object.entries(windows)) {
      if (turn >= first && turn <= last) samples.get(Number(at))?.push(ownMs);
    }
  }
}
