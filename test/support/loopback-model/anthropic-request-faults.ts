/**
 * How the body of a request breaks the rules by which Anthropic refuses whole requests
 * (https://docs.anthropic.com/en/api/messages): who speaks when, pairs of tool calls and results, ids, empty blocks,
 * `max_tokens`, and thinking before the newest calls.
 */
export function anthropicRequestFaults(body: unknown): readonly string[] {
  const { messages, max_tokens: maxTokens, thinking } = record(body);
  const list = (Array.isArray(messages) ? messages : []).map(messageOf);
  const faults: string[] = [];
  if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1) faults.push('max_tokens is no positive number');
  const budget = record(thinking)['budget_tokens'];
  if (budget !== undefined && !(Number(budget) >= 1024 && Number(budget) < Number(maxTokens)))
    faults.push('the thinking budget does not fit max_tokens');
  if (list.length === 0) return [...faults, 'there are no messages'];
  if (list[0]?.role !== 'user') faults.push('the first message is not the user’s');
  return [
    ...faults,
    ...list.flatMap((message, index) => messageFaults(message, index, list)),
    ...thinkingFaults(list, record(thinking)['type'] === 'enabled'),
  ];
}

type Block = Readonly<Record<string, unknown>>;

interface Message {
  readonly role: unknown;
  readonly blocks: readonly Block[];
}

function messageOf(value: unknown): Message {
  const { role, content } = record(value);
  if (typeof content === 'string') return { role, blocks: [{ type: 'text', text: content }] };
  return { role, blocks: (Array.isArray(content) ? content : []).map(record) };
}

function messageFaults(message: Message, index: number, list: readonly Message[]): readonly string[] {
  const at = `message ${String(index)} (${String(message.role)})`;
  const faults: string[] = [];
  if (message.role !== 'user' && message.role !== 'assistant') faults.push(`${at} has an unknown role`);
  if (list[index - 1]?.role === message.role) faults.push(`${at} follows one of the same role`);
  if (message.blocks.length === 0) faults.push(`${at} is empty`);
  for (const block of message.blocks) faults.push(...blockFaults(block, message, at));
  faults.push(...pairFaults(message, list[index + 1], at), ...answerFaults(message, list[index - 1], at));
  const last = message.blocks.at(-1);
  if (message.role === 'assistant' && index === list.length - 1 && /\s$/.test(textOf(last)))
    faults.push(`${at} ends with a blank`);
  return faults;
}

function blockFaults(block: Block, { role }: Message, at: string): readonly string[] {
  switch (block['type']) {
    case 'text':
      return textOf(block).trim() === '' ? [`${at} has a text without letters`] : [];
    case 'image':
    case 'document': {
      const source = record(block['source']);
      const isWhole = source['type'] === 'base64' && typeof source['data'] === 'string' && source['media_type'] !== '';
      return role === 'user' && isWhole ? [] : [`${at} has a broken ${String(block['type'])}`];
    }
    case 'tool_use': {
      const faults = /^[a-zA-Z0-9_-]+$/.test(String(block['id'])) ? [] : [`${at} has the id "${String(block['id'])}"`];
      const { input } = block;
      const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
      return isObject && role === 'assistant' ? faults : [...faults, `${at} has a broken tool_use`];
    }
    case 'tool_result':
      return role === 'user' ? [] : [`${at} has a result that is not the user's`];
    case 'thinking':
      return role === 'assistant' && typeof block['signature'] === 'string' && block['signature'] !== ''
        ? []
        : [`${at} has thinking without a signature`];
    case 'redacted_thinking':
      return role === 'assistant' && typeof block['data'] === 'string' ? [] : [`${at} has broken redacted thinking`];
    default:
      return [`${at} has a block of the unknown type ${String(block['type'])}`];
  }
}

/** Each call has its result in the very next message, before anything else in it. */
function pairFaults(message: Message, next: Message | undefined, at: string): readonly string[] {
  const asked = idsOf(message, 'tool_use', 'id');
  if (new Set(asked).size !== asked.length) return [`${at} uses one id for several calls`];
  const answered = next === undefined ? [] : idsOf(next, 'tool_result', 'tool_use_id');
  const open = asked.filter((id) => !answered.includes(id));
  return open.length === 0 ? [] : [`${at} asks for ${open.join(', ')} without a result in the next message`];
}

function answerFaults(message: Message, before: Message | undefined, at: string): readonly string[] {
  const answered = idsOf(message, 'tool_result', 'tool_use_id');
  const asked = before === undefined ? [] : idsOf(before, 'tool_use', 'id');
  const faults = answered
    .filter((id) => !asked.includes(id))
    .map((id) => `${at} answers "${id}", which nobody asks for`);
  if (new Set(answered).size !== answered.length) faults.push(`${at} answers one call twice`);
  const types = message.blocks.map((block) => block['type'] === 'tool_result');
  return types.lastIndexOf(true) >= answered.length ? [...faults, `${at} has something before its results`] : faults;
}

/** With thinking on, the answer that asked for the newest results begins with its thinking. */
function thinkingFaults(list: readonly Message[], isOn: boolean): readonly string[] {
  const last = list.at(-1);
  if (!isOn || last === undefined || idsOf(last, 'tool_result', 'tool_use_id').length === 0) return [];
  const first = String(list.at(-2)?.blocks[0]?.['type']);
  return first === 'thinking' || first === 'redacted_thinking'
    ? []
    : [`the newest answer with calls begins with ${first} instead of its thinking`];
}

function idsOf(message: Message, type: string, field: string): readonly string[] {
  return message.blocks.flatMap((block) => (block['type'] === type ? [String(block[field])] : []));
}

function textOf(block: Block | undefined): string {
  const text = block?.['text'];
  return typeof text === 'string' ? text : '';
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
