import { cpuMs } from './cpu.ts';
import { Daemon, TestHome, connect } from '../support/daemon.ts';
import { ZeroModel } from './zero-model.ts';

const chunks = 50_000;

/** The daemon's CPU time for one streamed chunk, from the model's socket to one subscriber's. Linux only. */
export async function benchChunks(): Promise<void> {
  const model = await ZeroModel.start();
  const home = new TestHome({
    model: { provider: 'custom', default: 'zero', base_url: model.url, context_length: 10_000_000 },
    gateway: { max_backlog_bytes: 256 * 1024 * 1024 },
    logging: { level: 'error' },
  });
  const daemon = await Daemon.start(home);
  const client = await connect(home);
  const { session_id } = await client.call<{ session_id: string }>('session.create', { source: 'bench' });
  // The first turns load what is loaded lazily (the tokenizer's table, above all).
  for (const input_id of ['warm-1', 'warm-2', 'warm-3']) {
    await client.call('prompt.submit', { session_id, input_id, text: 'Warm up.' });
    await client.call('prompt.wait', { session_id, input_id, timeout_ms: 60_000 });
  }
  client.events.length = 0;
  model.chunksPerAnswer = chunks;
  const before = cpuMs(daemon.pid);
  await client.call('prompt.submit', { session_id, input_id: 'long', text: 'A long answer, please.' });
  await client.call('prompt.wait', { session_id, input_id: 'long', timeout_ms: 120_000 });
  const spentMs = cpuMs(daemon.pid) - before;
  const received = client.events.filter(({ type }) => type === 'message.delta').length;
  client.close();
  await daemon.kill('SIGTERM');
  await model.stop();
  home.remove();
  console.log(
    `${String(chunks)} chunks sent, ${String(received)} deltas received: ` +
      `${((1000 * spentMs) / chunks).toFixed(1)} µs CPU a chunk (aim: under 100)`,
  );
}
