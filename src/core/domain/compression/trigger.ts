import { outputCap } from '../model/output-limit.ts';
import type { AnswerLimits } from '../model/output-limit.ts';

/** The configured part of compression. Token numbers are tokens; `threshold` is a share of the window. */
export interface CompressionPolicy {
  readonly enabled: boolean;
  readonly protectFirstN: number;
  readonly protectLastN: number;
  readonly threshold: number;
  readonly thresholdTokens: number | null;
  readonly inPlace: boolean;
}

/** What one model leaves for a conversation. */
export interface ContextWindow {
  /** Input and output together. */
  readonly windowTokens: number;
  /** Kept free for the answer. */
  readonly reserveTokens: number;
  /** What decided the reserve: the configuration, the model's own most output, or a quarter of the window. */
  readonly reserveSource: 'configured' | 'model' | 'quarter';
  /** The size from which on the transcript is compressed before a request. */
  readonly triggerTokens: number;
  /** Which of the three bounds is the smallest. */
  readonly triggerSource: 'threshold' | 'threshold_tokens' | 'reserve';
}

/** The share of what the window leaves beside the reserve that a request may fill, whatever the policy says. */
const safeShare = 0.9;

/**
 * `trigger = min(threshold × window, threshold_tokens, 0.9 × (window − reserve))`. The reserve is the configured
 * maximum output, else the smaller of the model's own maximum and a quarter of the window.
 */
export function contextWindow(
  policy: CompressionPolicy,
  limits: { readonly contextTokens: number; readonly outputTokens: number | null },
  maxOutputTokens: number | null,
): ContextWindow {
  const windowTokens = limits.contextTokens;
  const quarter = Math.floor(windowTokens / 4);
  const ofModel = Math.min(limits.outputTokens ?? quarter, quarter);
  const reserveTokens = maxOutputTokens ?? ofModel;
  const bounds = {
    threshold: policy.threshold * windowTokens,
    threshold_tokens: policy.thresholdTokens ?? Infinity,
    reserve: safeShare * Math.max(windowTokens - reserveTokens, 0),
  };
  const least = Math.min(...Object.values(bounds));
  return {
    windowTokens,
    reserveTokens,
    reserveSource: maxOutputTokens !== null ? 'configured' : limits.outputTokens === ofModel ? 'model' : 'quarter',
    triggerTokens: Math.floor(least),
    triggerSource: sourcesOfTrigger.find((source) => bounds[source] === least) ?? 'threshold',
  };
}

/** The most of a window that nobody has configured that is kept free for the answer. */
const answerShare = 0.5;

/**
 * The window of a model, with the cap on its answers that counts for it. The start has checked a configured window
 * against that cap. Any other, above all a smaller one that a provider has just stated, may leave the prompt no room: the
 * reserve is half of it then, and answers are asked to be as short as what is left.
 */
export function windowOfModel(
  policy: CompressionPolicy,
  limits: AnswerLimits,
  generalCapTokens: number | null,
): ContextWindow {
  const cap = outputCap(limits, generalCapTokens);
  const most = limits.source === 'configured' ? Infinity : Math.floor(answerShare * limits.contextTokens);
  return contextWindow(policy, limits, cap === null ? null : Math.min(cap, most));
}

const sourcesOfTrigger = ['threshold', 'threshold_tokens', 'reserve'] as const;

/** The most of a refused request's local count that a compressed context may have. */
const overflowShare = 0.8;

/** After an overflow the refused request's size is evidence: plan for at most 0.8 of it, whatever the window says. */
export function triggerAfterOverflow(triggerTokens: number, refusedLocalTokens: number): number {
  return Math.min(triggerTokens, Math.floor(overflowShare * refusedLocalTokens));
}
