/**
 * How the body of a request breaks the rules by which Gemini refuses whole requests: the turn of a call is followed by
 * the turn of its results, as many as there are calls, and no turn is empty.
 */
export function googleRequestFaults(body: unknown): readonly string[] {
  const { contents } = record(body);
  const turns = (Array.isArray(contents) ? contents : []).map(turnOf);
  if (turns.length === 0) return ['there are no contents'];
  return [
    ...(turns[0]?.role === 'user' ? [] : ['the first turn is not the user’s']),
    ...turns.flatMap((turn, index) => turnFaults(turn, turns[index - 1], turns[index + 1], index)),
  ];
}

interface Turn {
  readonly role: unknown;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

function turnFaults(turn: Turn, before: Turn | undefined, after: Turn | undefined, index: number): readonly string[] {
  const at = `turn ${String(index)} (${String(turn.role)})`;
  const faults: string[] = [];
  if (turn.role !== 'user' && turn.role !== 'model') faults.push(`${at} has an unknown role`);
  if (turn.parts.length === 0) faults.push(`${at} is empty`);
  if (turn.parts.some((part) => part['text'] === '')) faults.push(`${at} has an empty text`);
  const asked = namesOf(turn, 'functionCall');
  if (asked.length > 0 && turn.role !== 'model') faults.push(`${at} has calls`);
  if (asked.join() !== namesOf(after, 'functionResponse').join()) faults.push(`${at} has calls without their results`);
  const answered = namesOf(turn, 'functionResponse');
  if (answered.join() !== namesOf(before, 'functionCall').join()) faults.push(`${at} has results without their calls`);
  return faults;
}

function namesOf(turn: Turn | undefined, field: 'functionCall' | 'functionResponse'): readonly string[] {
  return (turn?.parts ?? []).flatMap((part) =>
    part[field] === undefined ? [] : [String(record(part[field])['name'])],
  );
}

function turnOf(value: unknown): Turn {
  const { role, parts } = record(value);
  return { role, parts: (Array.isArray(parts) ? parts : []).map(record) };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
