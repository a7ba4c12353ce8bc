/* A process that queues prompts one after the other and says each one that was acknowledged, until it is killed. */
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';

const { ledger } = await openWorkerStorage({ home: process.argv[2] ?? '', newStoreId: 'store-1' });
const epoch = await ownerOf(ledger);
for (let seq = 1; ; seq += 1) {
  const appends = [creation(`session-${seq}`, epoch), firstPrompt(`session-${seq}`, epoch, seq)];
  await Promise.all(appends.map((request) => ledger.append(request)));
  process.stdout.write(`${seq}\n`);
}
