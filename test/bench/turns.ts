import { Daemon, TestHome, connect } from '../support/daemon.ts';
import type { RawClient } from '../support/raw-client.ts';
import { cpuMs } from './cpu.ts';
import { measureFsync } from './floors.ts';
import { ms, percentile } from './statistics.ts';
import { ZeroModel } from './zero-model.ts';

const sessions = 4;
const windows = { 10: [6, 25], 500: [491, 510] } as const;
const lastTurn = 510;

interface Measured {
  /** Own times of turns, in milliseconds. */
  readonly own: number[];
  /** The daemon's CPU time for one turn, in milliseconds, a number for each session. */
  readonly cpu: number[];
}

/**
 * The gateway's own time for a turn: from the submit frame written to `turn.settled` read, less the time inside the
 * model, and its CPU time. The aim: a p50 under three fsyncs of this disk plus 3 ms, at turn 10 and at turn 500 alike.
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
  const samples = new Map<number, Measured>([
    [10, { own: [], cpu: [] }],
    [500, { own: [], cpu: [] }],
  ]);
  for (let index = 0; index < sessions; index += 1) await runSession({ client, model, pid: daemon.pid }, samples);
  client.close();
  await daemon.kill('SIGTERM');
  await model.stop();
  home.remove();
  const after = measureFsync();
  const floor = (fsyncMs + after) / 2;
  const aim = 3 * floor + 3;
  console.log(`fsync of 4 KiB: ${ms(floor)} (before ${ms(fsyncMs)}, after ${ms(after)}); aim for p50: ${ms(aim)}`);
  for (const [turn, { own, cpu }] of samples) {
    const p50 = percentile(own, 0.5);
    const verdict = p50 < aim ? 'reached' : 'missed';
    const times = `p50 ${ms(p50)}  p99 ${ms(percentile(own, 0.99))}  CPU ${ms(percentile(cpu, 0.5))}`;
    console.log(`turn ${String(turn).padEnd(4)} ${times}  aim ${verdict}`);
  }
}

async function runSession(
  { client, model, pid }: { readonly client: RawClient; readonly model: ZeroModel; readonly pid: number },
  samples: ReadonlyMap<number, Measured>,
): Promise<void> {
  let cpuBefore = 0;
  const { session_id } = await client.call<{ session_id: string }>('session.create', { source: 'bench' });
  for (let turn = 1; turn <= lastTurn; turn += 1) {
    const input_id = `turn-${String(turn)}`;
    client.events.length = 0;
    model.insideMs = 0;
    if (Object.values(windows).some(([first]) => turn === first)) cpuBefore = cpuMs(pid);
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
      if (turn >= first && turn <= last) samples.get(Number(at))?.own.push(ownMs);
      if (turn === last) samples.get(Number(at))?.cpu.push((cpuMs(pid) - cpuBefore) / (last - first + 1));
    }
  }
}
