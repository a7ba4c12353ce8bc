/**
 * How the body of a request breaks the rules by which OpenAI's responses refuse whole requests: pairs of calls and
 * outputs, arguments that are JSON, and reasoning that can only be handed back encrypted when nothing is stored.
 */
export function responsesRequestFaults(body: unknown): readonly string[] {
  const { input, store } = record(body);
  const items = (Array.isArray(input) ? input : []).map(record);
  const faults = store === false ? [] : ['something is kept on the server'];
  if (items.length === 0) return [...faults, 'there is no input'];
  const asked = callIds(items, 'function_call');
  const answered = callIds(items, 'function_call_output');
  return [
    ...faults,
    ...items.flatMap((item, index) => itemFaults(item, items[index + 1], `item ${String(index)}`)),
    ...asked.filter((id) => !answered.includes(id)).map((id) => `the call ${id} has no output`),
    ...answered.filter((id) => !asked.includes(id)).map((id) => `the output ${id} has no call`),
    ...(new Set(asked).size === asked.length ? [] : ['two calls have one id']),
    ...(new Set(answered).size === answered.length ? [] : ['one call has two outputs']),
  ];
}

type Item = Readonly<Record<string, unknown>>;

function itemFaults(item: Item, next: Item | undefined, at: string): readonly string[] {
  switch (item['type']) {
    case 'item_reference':
      return [`${at} refers to something on the server`];
    case 'reasoning': {
      const isEncrypted = typeof item['encrypted_content'] === 'string' && item['encrypted_content'] !== '';
      const leadsOn =
        next?.['type'] === 'function_call' || next?.['type'] === 'reasoning' || next?.['role'] === 'assistant';
      return [
        ...(isEncrypted ? [] : [`${at} is reasoning that is not encrypted`]),
        ...(leadsOn ? [] : [`${at} is reasoning without what it led to`]),
      ];
    }
    case 'function_call':
      return isObject(item['arguments']) ? idFaults(item, at) : [`${at} has arguments that are no JSON object`];
    case 'function_call_output':
      return typeof item['output'] === 'string' ? idFaults(item, at) : [`${at} has no output`];
    default:
      return ['user', 'assistant', 'system', 'developer'].includes(String(item['role'])) ? [] : [`${at} is unknown`];
  }
}

function idFaults(item: Item, at: string): readonly string[] {
  return /^[\w-]{1,64}$/.test(String(item['call_id'])) ? [] : [`${at} has the call id "${String(item['call_id'])}"`];
}

function isObject(text: unknown): boolean {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function callIds(items: readonly Item[], type: string): readonly string[] {
  return items.flatMap((item) => (item['type'] === type ? [String(item['call_id'])] : []));
}

function record(value: unknown): Item {
  return typeof value === 'object' && value !== null ? (value as Item) : {};
}
