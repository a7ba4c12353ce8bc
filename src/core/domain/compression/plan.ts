/*
 * Which messages a compression keeps and which it summarises. Pure; it knows ids, roles and token counts, no content.
 *
 * C1: a call and its results, the calls of one batch, and what was steered in behind them are never separated: cuts
 *     fall only between groups.
 * C2: each message of the transcript is in exactly one of head, middle and tail, and each of them is in order.
 * C3: the newest turn is in the tail. The rung that cuts inside it still keeps its prompt there, before later steps.
 * C4: an earlier summary is always summarised again, so that summaries never stack.
 * C5: a plan with nothing to summarise doesn't exist.
 */
import type { MessageMeta } from '../transcript/message.ts';
import { sumTokens } from '../transcript/tokens.ts';
import { groupsOf } from './message-groups.ts';
import type { Group } from './message-groups.ts';

export interface CompressionPlan {
  /**
   * `wide` keeps what the policy protects, `narrow` the newest turn and, where the request carries too much for `wide`, a
   * little before it, `inside` the newest prompt and its latest steps.
   */
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

/**
 * The rungs to try, most keeping first. Those whose head and tail alone miss the bound are left out. Where that leaves
 * none, the head is given up: the budget wins over the number of protected messages.
 */
export function planCompression(input: PlanInput): readonly CompressionPlan[] {
  const groups = groupsOf(input.messages);
  const plans = plansWithHead(groups, headCount(groups, input.protectFirstN), input);
  return plans.length > 0 ? plans : plansWithHead(groups, 0, input);
}

function plansWithHead(groups: readonly Group[], head: number, input: PlanInput): readonly CompressionPlan[] {
  const newest = newestTurnStart(groups, input.promptPending);
  const headTokens = sumTokens(groups.slice(0, head).flat());
  const plans = [
    ...planWithTail(groups, head, newest, input.triggerTokens - input.extraTokens - headTokens, input),
    ...planAt('narrow', groups, head, newest, input.triggerTokens),
    ...planInside(groups, head, newest, input),
  ];
  const fitting = plans.filter((plan) => keptTokens(plan) + input.extraTokens < plan.boundTokens);
  return fitting.filter((plan, index) => fitting.findIndex((other) => isSameCut(plan, other)) === index);
}

function isSameCut(a: CompressionPlan, b: CompressionPlan): boolean {
  return a.head.length === b.head.length && a.tail.length === b.tail.length;
}

export function keptTokens(plan: Pick<CompressionPlan, 'head' | 'tail'>): number {
  return sumTokens(plan.head) + sumTokens(plan.tail);
}

/** The rebuilt context is to be under this share of the trigger, so that the next turn doesn't compress again. */
export const wideShare = 0.6;
/** The protected tail may fill this share of the trigger, and further messages join it up to `tailShare`. */
const protectedShare = 0.5;
const tailShare = 0.2;
/** What a tail leaves for the summary, as a share of the trigger. */
const summaryShare = 0.08;
/** The share of what head and extras leave of the trigger that the last messages may fill where `wide` has less for them. */
const smallTailShare = 0.2;
const maxTailTokens = 20_000;

/** As many whole groups from the start as fit into the first `n` messages. An earlier summary is never part of it. */
function headCount(groups: readonly Group[], n: number): number {
  let messages = 0;
  let count = 0;
  for (const group of groups) {
    messages += group.length;
    if (messages > n || group[0]?.kind === 'summary') break;
    count += 1;
  }
  return count;
}

/** The group with the newest prompt; the end while that prompt is not part of the transcript, or no longer its end. */
function newestTurnStart(groups: readonly Group[], promptPending: boolean): number {
  if (promptPending) return groups.length;
  const index = groups.findLastIndex(([first]) => first?.kind === 'prompt' || first?.kind === 'summary');
  return groups[index]?.[0]?.kind === 'prompt' ? index : groups.length;
}

/**
 * The plan with more of a tail than the newest turn. The tail shrinks to what system prompt, tools and head leave of the
 * bound; where that is too little to tell how the conversation went on, the trigger is the bound.
 */
function planWithTail(
  groups: readonly Group[],
  head: number,
  newest: number,
  freeTokens: number,
  input: PlanInput,
): readonly CompressionPlan[] {
  const { triggerTokens } = input;
  const wideTokens = Math.round((wideShare - summaryShare) * triggerTokens) - (triggerTokens - freeTokens);
  const smallTokens = smallTailShare * freeTokens;
  return wideTokens < smallTokens
    ? planAt('narrow', groups, head, tailCut(groups, newest, smallTokens, input), triggerTokens)
    : planAt('wide', groups, head, tailCut(groups, newest, wideTokens, input), wideShare * triggerTokens);
}

/** Where the tail begins when it may hold what the policy protects, and more while that is small. */
function tailCut(groups: readonly Group[], newest: number, maxTokens: number, input: PlanInput): number {
  const protectedBudget = Math.min(protectedShare * input.triggerTokens, maxTokens);
  const tailBudget = Math.min(tailShare * input.triggerTokens, maxTailTokens, maxTokens);
  let cut = groups.length;
  let messages = 0;
  let tokens = 0;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    const group = groups[index] ?? [];
    if (group[0]?.kind === 'summary') break;
    tokens += sumTokens(group);
    messages += group.length;
    const isProtected = messages <= input.protectLastN && tokens <= protectedBudget;
    if (!isProtected && index < newest && tokens > tailBudget) break;
    cut = index;
  }
  return cut;
}

function planAt(
  rung: CompressionPlan['rung'],
  groups: readonly Group[],
  head: number,
  cut: number,
  boundTokens: number,
): readonly CompressionPlan[] {
  const start = Math.min(head, cut);
  return planOf(rung, groups.slice(0, start), groups.slice(start, cut), groups.slice(cut), boundTokens);
}

/**
 * For a newest turn that is too big by itself: its prompt stays, and as many of its latest steps as fit. The last one
 * stays in any case: the model has not seen its results yet.
 */
function planInside(
  groups: readonly Group[],
  head: number,
  newest: number,
  input: PlanInput,
): readonly CompressionPlan[] {
  const budget = protectedShare * input.triggerTokens;
  let cut = groups.length;
  let tokens = sumTokens(groups[newest] ?? []);
  for (let index = groups.length - 1; index > newest; index -= 1) {
    tokens += sumTokens(groups[index] ?? []);
    if (tokens > budget && index < groups.length - 1) break;
    cut = index;
  }
  if (cut <= newest + 1) return [];
  const start = Math.min(head, newest);
  const middle = [...groups.slice(start, newest), ...groups.slice(newest + 1, cut)];
  const tail = [...groups.slice(newest, newest + 1), ...groups.slice(cut)];
  return planOf('inside', groups.slice(0, start), middle, tail, input.triggerTokens);
}

function planOf(
  rung: CompressionPlan['rung'],
  head: readonly Group[],
  middle: readonly Group[],
  tail: readonly Group[],
  boundTokens: number,
): readonly CompressionPlan[] {
  const summarised = middle.flat();
  if (summarised.every(({ kind }) => kind === 'summary')) return [];
  return [{ rung, head: head.flat(), middle: summarised, tail: tail.flat(), boundTokens }];
}
