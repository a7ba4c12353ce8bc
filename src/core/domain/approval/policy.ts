/*
 * Whether a call runs, waits for somebody's approval, or never runs. Pure, and linear in what it reads: names and
 * arguments are a model's words.
 */

/** `always` runs without asking, `ask` waits for an answer, `never` is answered with an error. */
export type ApprovalMode = 'always' | 'ask' | 'never';

/** The first rule that fits a call decides; without one the server's mode does. */
export interface ApprovalRule {
  /** A pattern for the name that the server knows the tool by. `*` stands for any text. */
  readonly tool: string;
  /** Patterns for arguments, by path (`path`, `options.mode`). All must fit, and an argument that is missing never does. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly approval: ApprovalMode;
}

export interface ServerApprovals {
  readonly approval: ApprovalMode;
  readonly rules: readonly ApprovalRule[];
}

/** By server. A server that is not in it runs without asking. */
export type ApprovalPolicy = Readonly<Record<string, ServerApprovals>>;

export function approvalMode(
  policy: ApprovalPolicy,
  tool: { readonly server: string; readonly serverTool: string },
  given: Readonly<Record<string, unknown>>,
): ApprovalMode {
  if (!Object.hasOwn(policy, tool.server)) return 'always';
  const server = policy[tool.server];
  const rule = server?.rules.find((each) => fits(each.tool, tool.serverTool) && argumentsFit(each.arguments, given));
  return rule?.approval ?? server?.approval ?? 'always';
}

function argumentsFit(patterns: Readonly<Record<string, string>>, given: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(patterns).every(([path, pattern]) => {
    const value = valueAt(given, path);
    return value !== undefined && fits(pattern, typeof value === 'string' ? value : JSON.stringify(value));
  });
}

/** A key that has dots of its own is found as a whole. */
function valueAt(given: unknown, path: string): unknown {
  if (typeof given !== 'object' || given === null) return undefined;
  const values = new Map<string, unknown>(Object.entries(given));
  if (values.has(path)) return values.get(path);
  const dot = path.indexOf('.');
  return dot < 0 ? undefined : valueAt(values.get(path.slice(0, dot)), path.slice(dot + 1));
}

/** Whether the whole text fits a pattern in which `*` stands for any text, none included. */
export function fits(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
