type FailpointAction =
  { readonly kind: 'kill' } | { readonly kind: 'throw' } | { readonly kind: 'delay'; readonly ms: number };

export interface FailpointRule {
  /** A name as the core calls it; `*` stands for any run of characters. */
  readonly pattern: string;
  readonly action: FailpointAction;
  /** Only the n-th hit of this rule, counted from 1. Null: every hit. */
  readonly onHit: number | null;
}

export type ParsedFailpoints =
  | { readonly kind: 'parsed'; readonly rules: readonly FailpointRule[] }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Reads HOLDFAST_FAILPOINTS: `name:action[@n],…` with the actions `kill`, `throw` and `delay=MS`, as in `submit.after_commit:kill@2`. */
export function parseFailpoints(text: string): ParsedFailpoints {
  const rules: FailpointRule[] = [];
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const rule = parseRule(item);
    if (rule === null) {
      return { kind: 'invalid', problem: `\`${item}\` is not name:action[@n] with action kill, throw or delay=MS` };
    }
    rules.push(rule);
  }
  return { kind: 'parsed', rules };
}

const rulePattern =
  /^(?<pattern>[a-z0-9_.*-]+):(?<action>kill|throw|delay=(?<ms>\d{1,7}))(?:@(?<onHit>[1-9]\d{0,8}))?$/;

function parseRule(item: string): FailpointRule | null {
  const groups = rulePattern.exec(item)?.groups;
  const pattern = groups?.['pattern'];
  const action = groups?.['action'];
  if (groups === undefined || pattern === undefined || action === undefined) return null;
  const onHit = groups['onHit'];
  return {
    pattern,
    action: action === 'kill' || action === 'throw' ? { kind: action } : { kind: 'delay', ms: Number(groups['ms']) },
    onHit: onHit === undefined ? null : Number(onHit),
  };
}
