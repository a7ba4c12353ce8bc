import type { ModelRequest } from '../../../core/ports/model-provider.ts';

export interface DemoReply {
  readonly text: string;
  /** Instead of the usual delay. */
  readonly wordDelayMs?: number;
  /** The reply ends with this failure. */
  readonly failure?: string;
}

/** What the demo model says to a request. It looks at the last user message; the same request gets the same reply. */
export function demoReply(request: Pick<ModelRequest, 'messages' | 'purpose'>): DemoReply {
  const prompts = userTexts(request);
  const prompt = prompts.at(-1) ?? '';
  if (request.purpose === 'title') return { text: titleOf(prompt) };
  for (const { pattern, reply } of commands) {
    const match = pattern.exec(prompt.trim());
    if (match !== null) return reply(match[1] ?? '', prompts);
  }
  const topic = topics.find(({ pattern }) => pattern.test(prompt));
  return { text: topic?.text ?? greeting(prompt) };
}

const maxWords = 20_000;

const commands: readonly {
  readonly pattern: RegExp;
  readonly reply: (argument: string, prompts: readonly string[]) => DemoReply;
}[] = [
  {
    pattern: /^long (\d{1,6})\b/i,
    reply: (count) => ({ text: wordsOf(Math.min(Number(count), maxWords)), wordDelayMs: 0 }),
  },
  { pattern: /^slow (\d{1,4})\b/i, reply: (count) => ({ text: wordsOf(Number(count)), wordDelayMs: 1000 }) },
  { pattern: /^echo\s+([\s\S]+)$/i, reply: (text) => ({ text }) },
  {
    pattern: /^fail\b/i,
    reply: () => ({ text: 'As you wish:', failure: 'The demo model failed because it was asked to.' }),
  },
  { pattern: /^recap\b/i, reply: (_, prompts) => ({ text: recap(prompts.slice(0, -1)) }) },
  { pattern: /^help\b/i, reply: () => ({ text: help }) },
];

const help = [
  'I am the demo model that is built into Holdfast. I know these commands:',
  '- `long N` answers with N words, to fill the transcript until Holdfast compresses it.',
  '- `slow N` answers for N seconds, to have time to queue more prompts, to stop me or to kill the gateway.',
  '- `recap` lists what I still see of your requests, also after a compression.',
  '- `echo TEXT` and `fail` do what they say.',
].join('\n');

const topics: readonly { readonly pattern: RegExp; readonly text: string }[] = [
  {
    pattern: /compress|context|summar|token/i,
    text: 'When a transcript comes near the model\'s window, Holdfast summarises its middle by itself, before the next request. The recent messages stay as they are, the old ones stay readable and searchable, and the prompts in the queue are not touched. Send me "long 1500" a few times to see it happen.',
  },
  {
    pattern: /kill|restart|crash|recover|lost|durable/i,
    text: 'A prompt is on disk before you see its receipt. If the gateway is killed, the next one takes over: what was queued runs once and in order, and a turn whose request may have been sent is never sent again without you saying so. Send me "slow 30", queue another prompt behind it, and kill the process.',
  },
  {
    pattern: /queue|order|fifo|wait/i,
    text: 'Each session has one queue. One turn runs at a time, the others wait in the order in which they came, and you may edit, move or cancel them until they start.',
  },
];

function greeting(prompt: string): string {
  const said = prompt.trim() === '' ? 'nothing that I can read' : `"${cut(prompt, 80)}"`;
  return `You said ${said}. I am the demo model that is built into Holdfast: no network, no key, and no intelligence. Send "help" to see what I can do, or put a real model into config.yaml.`;
}

function recap(prompts: readonly string[]): string {
  const lines = prompts.map((prompt) => `- ${cut(prompt, 120)}`);
  return lines.length === 0
    ? 'This is your first request.'
    : `I see these requests before this one:\n${lines.join('\n')}`;
}

const vocabulary =
  'a durable queue keeps every prompt in its place while the gateway rests and runs each of them once in order'.split(
    ' ',
  );

function wordsOf(count: number): string {
  return Array.from({ length: count }, (_, index) => vocabulary[index % vocabulary.length] ?? '').join(' ');
}

/** The beginning of what the user has said in the labelled exchange of a request for a title. */
function titleOf(prompt: string): string {
  const said = /<user>([\s\S]*?)<\/user>/.exec(prompt)?.[1] ?? prompt;
  return cut(said, 40) || 'Demo';
}

function userTexts({ messages }: Pick<ModelRequest, 'messages'>): readonly string[] {
  return messages.flatMap((message) => (message.role === 'user' ? [shownText(message.text)] : []));
}

/** A summary stands in a request as background; it is not something that somebody asked for. */
function shownText(text: string): string {
  return text.startsWith('<background>') ? '(the summary of what was compressed)' : text;
}

/** One line of at most so many characters. */
export function cut(text: string, maxCharacters: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`;
}
