import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

test('what was acknowledged before a SIGKILL is there for the next owner, whole', async () => {
  const home = temporaryHome();
  const acknowledged = await appendUntilKilled(home, 25);

  const { ledger, queries, close } = await reopened(home);

  expect(await ownerOf(ledger)).toBe(2);
  const unfinished = await ledger.unfinished();
  expect(unfinished.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, n) => `session-${n + 1}`));
  for (const sessionId of unfinished) {
    const { events, lastSeq } = await queries.events({ sessionId, afterSeq: 0, limit: 10 });
    const state = await ledger.load(sessionId);
    expect(events.map(({ type }) => type)).toEqual(['session.created', 'admission.queued']);
    expect([lastSeq, state?.seq, state?.open.length]).toEqual([2, 2, 1]);
    expect(await ledger.readPayload(state?.open[0]?.admissionId ?? '')).toMatchObject({ payload: { text: 'Hello' } });
  }
  await close();
});

async function reopened(home: string) {
  const storage = await openInProcessStorage({ home, newStoreId: 'another' });
  expect(storage.storeId).toBe('store-1');
  return { ledger: storage.ledger, queries: storage.queries, close: () => storage.close() };
}

/** Kills the process in the middle of its work, and says how many prompts it had acknowledged until then. */
async function appendUntilKilled(home: string, atLeast: number): Promise<number> {
  const script = fileURLToPath(new URL('./append-until-killed.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Number(line);
    if (acknowledged === atLeast) child.kill('SIGKILL');
  }
  await exited;
  return acknowledged;
}
