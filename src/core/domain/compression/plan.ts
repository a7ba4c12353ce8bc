/*
 * Which messages a compression keeps and which it summarises. Pure; it knows ids, roles and token counts, no content.
 *
 * C1: a call and its results, and the calls of one batch, are never separated: cuts fall only between groups.
 * C2: head + middle + tail is the transcript, in order, each message once.
 * C3: the newest turn is in the tail, except on the rung that cuts inside it.
 * C4: a plan with nothing to summarise doesn't exist.
 */
import type { MessageMeta } from '../transcript/message.ts';
import { sumTokens } from '../transcript/tokens.ts';

export interface CompressionPlan {
  /** `wide` keeps what the policy protects, `narrow` only the newest turn, `inside` cuts into the newest turn. */
  readonly rung: 'wide' | 'narrow' | 'inside';
  readonly head: readonly MessageMeta[];
  readonly middle: readonly MessageMeta[];
  readonly tail: readonly MessageMeta[];
  /** The rebuilt context must be smaller than this. */
  readonly boundTokens: number;
}

export interface PlanInput {
  readonly messages: readonly MessageMeta[];
  readonly protectFirstN: number;
  readonly protectLastN: number;
  readonly triggerTokens: number;
  /** What the request carries beside the transcript: system prompt, tool schemas, the pending prompt. */
  readonly extraTokens: number;
  /** The newest prompt is not part of the transcript yet, so the whole transcript may be summarised. */
  readonly promptPending: boolean;
}

/** The rungs to try, most keeping first. Those whose head and tail alone miss the bound are left out. */
export function planCompression(input: PlanInput): readonly CompressionPlan[] {
  const groups = groupsOf(input.messages);
  const head = headCount(groups, input.protectFirstN);
  const newest = newestTurnStart(groups);
  const wideBound = wideShare * input.triggerTokens;
  const cuts: readonly [CompressionPlan['rung'], number, number][] = [
    ['wide', wideCut(groups, newest, input), wideBound],
    ['narrow', input.promptPending ? groups.length : newest, input.triggerTokens],
    ['inside', insideCut(groups, newest, input), input.triggerTokens],
  ];
  const plans = cuts.flatMap(([rung, cut, boundTokens]) => planAt(groups, Math.min(head, cut), cut, rung, boundTokens));
  const distinct = plans.filter((plan, index) => index === 0 || plan.tail.length !== plans[index - 1]?.tail.length);
  return distinct.filter((plan) => keptTokens(plan) + input.extraTokens < plan.boundTokens);
}

export function keptTokens(plan: Pick<CompressionPlan, 'head' | 'tail'>): number {
  return sumTokens(plan.head) + sumTokens(plan.tail);
}

/** The rebuilt context is to be under this share of the trigger, so that the next turn doesn't compress again. */
const wideShare = 0.6;
/** The protected tail may fill this share of the trigger, and further messages join it up to `tailShare`. */
const protectedShare = 0.5;
const tailShare = 0.2;
const maxTailTokens = 20_000;

/** Messages that stay together: a message with calls and all its results, or a single message. */
type Group = readonly MessageMeta[];

function groupsOf(messages: readonly MessageMeta[]): readonly Group[] {
  const groups: MessageMeta[][] = [];
  const groupOfCall = new Map<string, MessageMeta[]>();
  for (const message of messages) {
    const asking = message.toolCallId === null ? undefined : groupOfCall.get(message.toolCallId);
    // A result joins its call's group only while that group is the newest: otherwise order would suffer.
    if (asking !== undefined && asking === groups.at(-1)) asking.push(message);
    else groups.push([message]);
    const own = groups.at(-1);
    if (own !== undefined) for (const id of message.toolCallIds) groupOfCall.set(id, own);
  }
  return groups;
}

/** As many whole groups from the start as fit into the first `n` messages. */
function headCount(groups: readonly Group[], n: number): number {
  let messages = 0;
  let count = 0;
  for (const group of groups) {
    messages += group.length;
    if (messages > n) break;
    count += 1;
  }
  return count;
}

/** The group with the newest prompt. */
function newestTurnStart(groups: readonly Group[]): number {
  const index = groups.findLastIndex((group) => group[0]?.kind === 'prompt');
  return index < 0 ? groups.length : index;
}

/** Where the tail begins when it may hold what the policy protects, and more while that is small. */
function wideCut(groups: readonly Group[], newest: number, input: PlanInput): number {
  const protectedBudget = protectedShare * input.triggerTokens;
  const tailBudget = Math.min(tailShare * input.triggerTokens, maxTailTokens);
  let cut = groups.length;
  let messages = 0;
  let tokens = 0;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    const group = groups[index] ?? [];
    tokens += sumTokens(group);
    messages += group.length;
    const isProtected = messages <= input.protectLastN && tokens <= protectedBudget;
    const belongsToNewest = index >= newest && !input.promptPending;
    if (!isProtected && !belongsToNewest && tokens > tailBudget) break;
    cut = index;
  }
  return cut;
}

/** Where the tail begins when the newest turn itself is too big: at the last step that fits half of the trigger. */
function insideCut(groups: readonly Group[], newest: number, input: PlanInput): number {
  const budget = protectedShare * input.triggerTokens;
  let cut = groups.length;
  let tokens = 0;
  for (let index = groups.length - 1; index > newest; index -= 1) {
    tokens += sumTokens(groups[index] ?? []);
    if (tokens > budget) break;
    cut = index;
  }
  return cut;
}

function planAt(
  groups: readonly Group[],
  head: number,
  cut: number,
  rung: CompressionPlan['rung'],
  boundTokens: number,
): readonly CompressionPlan[] {
  const middle = groups.slice(head, cut).flat();
  if (middle.length === 0 || (middle.length === 1 && middle[0]?.kind === 'summary')) return [];
  return [{ rung, head: groups.slice(0, head).flat(), middle, tail: groups.slice(cut).flat(), boundTokens }];
}
