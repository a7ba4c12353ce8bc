/* The thread that holds the tokenizer's table (65 MB, more than a second to load). It counts what it is sent, in order. */
import { parentPort } from 'node:worker_threads';
import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';
import { splitRuns } from './run-splitter.ts';

/** What goes to the thread and what comes back. */
export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

export interface CountReply {
  readonly id: number;
  readonly counts: readonly number[];
}

// The library's default of 100,000 remembered pieces may hold far more than its table.
setMergeCacheSize(10_000);

/** Nothing is special in a user's text: without this, `<|endoftext|>` in it throws. */
const asPlainText = { disallowedSpecial: new Set<string>() };

parentPort?.on('message', ({ id, texts }: CountRequest) => {
  const counts = texts.map((text) => splitRuns(text).reduce((sum, piece) => sum + countTokens(piece, asPlainText), 0));
  parentPort?.postMessage({ id, counts } satisfies CountReply);
});
