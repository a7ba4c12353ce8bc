/**
 * The loopback model as a process of its own, for benches and for trying things by hand:
 *
 *     tsx test/support/loopback-model/main.ts --port 0 --words 40 --delay-ms 20 --limit 60000
 *
 * It prints its base URL as its first line and one line for each request on stderr.
 */
import { parseArgs } from 'node:util';
import { isSummaryRequest, textAnswer, withinCharacters } from './answers.ts';
import type { Answer } from './loopback-model.ts';
import { LoopbackModel } from './loopback-model.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    /** Words of each answer. */
    words: { type: 'string', default: '12' },
    'delay-ms': { type: 'string', default: '0' },
    /** Characters of `JSON.stringify(messages)` above which a request is refused as too long. */
    limit: { type: 'string', default: '1000000000' },
    quiet: { type: 'boolean', default: false },
  },
});

const wordCount = Number(values.words);
const delayMs = Number(values['delay-ms']);

const answer: Answer = (call) => {
  const { body } = call.request;
  const characters = JSON.stringify(body?.messages ?? []).length;
  if (!values.quiet)
    process.stderr.write(`${String(body?.messages.length ?? 0)} messages, ${String(characters)} characters\n`);
  const tokens = Math.ceil(characters / 4);
  const usage = { prompt_tokens: tokens, completion_tokens: wordCount, total_tokens: tokens + wordCount };
  const text = isSummaryRequest(body) ? 'Objective\nGo on with what the user asked for.' : sentence(wordCount);
  return textAnswer(text, { delayMs, usage })(call);
};

function sentence(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${String(index + 1)}`).join(' ');
}

const model = await LoopbackModel.start({
  port: Number(values.port),
  answer: withinCharacters(Number(values.limit), answer),
});
process.stdout.write(`${model.url}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void model.close().then(() => process.exit(0)));
