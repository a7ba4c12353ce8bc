import Database from 'better-sqlite3';
import { join } from 'node:path';
import { planCompression } from '../../src/core/domain/compression/plan.ts';
import { assemble } from '../../src/core/domain/transcript/assemble.ts';
import { metaOf } from '../../src/core/domain/transcript/message.ts';
import type { Message } from '../../src/core/domain/transcript/message.ts';
import { aMessage } from '../support/builders.ts';
import { Daemon, TestHome, connect } from '../support/daemon.ts';
import { measureFsync } from './floors.ts';
import { ms, percentile } from './statistics.ts';
import { ZeroModel } from './zero-model.ts';

const compressions = 300;
/** Few turns pass the trigger of 2,000 tokens, and yet so many that the breaker has no reason to open. */
const prompt = 'A sentence of a prompt that has something to say. '.repeat(40);

/**
 * What a compression costs beside its summary request, in time and in bytes, at the beginning of a lineage and at its
 * end, in both forms; and what planning and assembling cost by what they are given.
 */
export async function benchCompression(): Promise<void> {
  for (const inPlace of [false, true]) await benchLineage(inPlace);
  benchPureParts();
}

async function benchLineage(inPlace: boolean): Promise<void> {
  const fsyncMs = measureFsync();
  const model = await ZeroModel.start();
  const home = new TestHome({
    model: { provider: 'custom', default: 'zero', base_url: model.url, context_length: 64_000 },
    compression: { threshold_tokens: 2_000, protect_first_n: 1, protect_last_n: 2, in_place: inPlace },
    logging: { level: 'error' },
  });
  const daemon = await Daemon.start(home);
  const client = await connect(home);
  const { session_id } = await client.call<{ session_id: string }>('session.create', { source: 'bench' });
  const own: number[] = [];
  const turns: number[] = [];
  for (let turn = 1; own.length < compressions; turn += 1) {
    client.events.length = 0;
    model.insideMs = 0;
    const startedAt = performance.now();
    const settled = client.event(({ type, session_id: of }) => type === 'turn.settled' && of === session_id);
    await client.call('prompt.submit', { session_id, input_id: `turn-${String(turn)}`, text: prompt });
    await settled;
    const spentMs = performance.now() - startedAt - model.insideMs;
    (client.events.some(({ type }) => type === 'compression.completed') ? own : turns).push(spentMs);
  }
  client.close();
  await daemon.kill('SIGTERM');
  const bytes = bytesByCompression(home);
  await model.stop();
  home.remove();
  const plain = percentile(turns, 0.5);
  console.log(
    `${inPlace ? 'in place' : 'rotation'}: fsync ${ms(fsyncMs)}, a turn without one p50 ${ms(plain)}; a compression adds:`,
  );
  for (const [first, last] of [
    [0, 50],
    [compressions - 50, compressions],
  ] as const) {
    const added = percentile(own.slice(first, last), 0.5) - plain;
    const written = percentile(bytes.slice(first, last), 0.5);
    console.log(
      `  ${String(first + 1)} to ${String(last)}: p50 ${ms(added)} (${(added / fsyncMs).toFixed(1)} fsyncs), ` +
        `${String(written)} bytes of messages and events`,
    );
  }
}

/** The letters of the rows that each compression has made: the summary, the copies, its events and its record. */
function bytesByCompression(home: TestHome): readonly number[] {
  const db = new Database(join(home.path, 'state.db'), { readonly: true });
  const eventBytes = db
    .prepare<[], number>(`SELECT length(payload) FROM session_events WHERE type = 'compression.completed' ORDER BY seq`)
    .pluck()
    .all();
  // The rows of one compression follow each other: the copies of the head, the summary, the copies of the tail.
  const rows = db
    .prepare<[], { readonly id: number; readonly kind: string; readonly copied: 0 | 1; readonly bytes: number }>(
      `SELECT id, kind, origin_id <> id AS copied, length(content) + coalesce(length(parts), 0) + coalesce(length(tool_calls), 0) AS bytes
       FROM messages ORDER BY id`,
    )
    .all();
  db.close();
  const byCompression: number[] = [];
  let open = 0;
  let isOpen = false;
  for (const { kind, copied, bytes } of rows) {
    if (kind !== 'summary' && copied === 0) {
      if (isOpen) byCompression.push(open);
      isOpen = false;
      open = 0;
      continue;
    }
    isOpen = true;
    open += bytes;
  }
  return byCompression.map((bytes, index) => bytes + (eventBytes[index] ?? 0));
}

/** Both are functions of the open transcript: its length is all that they can grow with. */
function benchPureParts(): void {
  console.log('planning and assembling, by the messages of the open transcript:');
  for (const length of [40, 400, 4_000]) {
    const messages = Array.from({ length }, (_, index): Message => {
      const isPrompt = index % 2 === 0;
      const kind = isPrompt ? 'prompt' : 'answer';
      return aMessage({ id: index + 1, role: isPrompt ? 'user' : 'assistant', kind, text: prompt, tokens: 1_100 });
    });
    const metas = messages.map(metaOf);
    const policy = { protectFirstN: 3, protectLastN: 20, triggerTokens: length * 900, extraTokens: 0 };
    const planMs = medianOf(() => planCompression({ ...policy, messages: metas, promptPending: true }));
    const assembleMs = medianOf(() => assemble(messages));
    const perMessage = (spentMs: number): string => `${((1e6 * spentMs) / length).toFixed(0)} ns a message`;
    console.log(
      `  ${String(length).padStart(5)}: plan ${ms(planMs)} (${perMessage(planMs)}), assemble ${ms(assembleMs)} (${perMessage(assembleMs)})`,
    );
  }
}

function medianOf(run: () => unknown): number {
  const samples: number[] = [];
  for (let index = 0; index < 60; index += 1) {
    const startedAt = performance.now();
    run();
    if (index >= 20) samples.push(performance.now() - startedAt); // the first ones are compiled
  }
  return percentile(samples, 0.5);
}
