/*
 * Runs the calls that a step asks for. Its border: it decides nothing about the turn; it journals and runs.
 *
 * J1: the model's message and the intent of every call that will run are durable before the first tool starts.
 * J2: a call is run once. A result is durable as soon as it is there, and before the next request.
 * J3: arguments that are no JSON object never reach a tool: the model is told and may try again.
 * J4: a call that needs an approval starts after the answer that allows it is durable, and its intent is part of that
 *     append. One that is not approved never starts, and the others don't wait for it.
 * J5: one answer starts so many calls and no more, and so many at once.
 */
import { approvalMode } from '../domain/approval/policy.ts';
import type { ApprovalMode, ApprovalPolicy } from '../domain/approval/policy.ts';
import type { MessageDraft, ToolCall } from '../domain/transcript/message.ts';
import { textDraft } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { ToolResultKind } from '../domain/session/events.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { ToolDescriptor, ToolHost, ToolOutcome } from '../ports/tool-host.ts';
import type { Approvals } from './approval-desk.ts';
import { makeAtOnce } from './at-once.ts';
import type { Sent, Sessions } from './sessions.ts';

export interface ToolStepDependencies {
  readonly sessions: Sessions;
  readonly tools: ToolHost;
  readonly tokens: TokenCounter;
  readonly failpoints: Failpoints;
  readonly ids: IdSource;
  readonly approvals: Approvals;
  readonly approvalRules: ApprovalRules;
  readonly callLimits: CallLimits;
}

/** How many calls one answer may start, and how many of them run at once. */
export interface CallLimits {
  readonly maxPerStep: number;
  readonly maxParallel: number;
}

/** Which calls wait for an approval, how long, and how many of one session at once. */
export interface ApprovalRules {
  readonly policy: ApprovalPolicy;
  readonly expirySeconds: number;
  readonly maxOpen: number;
}

export interface ToolStep {
  readonly sessionId: string;
  readonly admissionId: string;
  readonly executionGeneration: number;
  /** The step that the results belong to: the next one. */
  readonly step: number;
  readonly answer: MessageDraft;
  readonly available: readonly ToolDescriptor[];
  readonly contextTokens: number | null;
  readonly signal: AbortSignal;
}

/** Runs a batch and answers what became of the first command that was not accepted, or of the last one. */
export async function runToolStep(deps: ToolStepDependencies, step: ToolStep): Promise<Sent<null>> {
  const cutOff = step.answer.finishReason === 'length';
  const { policy, expirySeconds, maxOpen } = deps.approvalRules;
  const { maxPerStep, maxParallel } = deps.callLimits;
  const judged = distinct(step.answer.toolCalls).map((call, index) =>
    index < maxPerStep ? judge(call, step.available, cutOff, policy) : beyond(call, maxPerStep),
  );
  const runnable = judged.flatMap((each) => (each.kind === 'runnable' && each.mode === 'always' ? [each] : []));
  const asking = judged.flatMap((each) => (each.kind === 'runnable' && each.mode === 'ask' ? [each] : []));
  const refused = [
    ...judged.flatMap((each) => (each.kind === 'refused' ? [each] : [])),
    ...asking.slice(maxOpen).map(({ call }) => ({ call, text: tooManyAsked(maxOpen) })),
  ];
  const { sessionId, executionGeneration, signal } = step;
  const asked = asking.slice(0, maxOpen).map((each) => {
    const approvalId = deps.ids.next();
    // Somebody may answer as soon as the request is stored, so the waiting begins before that.
    return { ...each, approvalId, decision: deps.approvals.decisionOn(approvalId, signal) };
  });
  const appended = await deps.sessions.send(sessionId, {
    kind: 'append',
    executionGeneration,
    messages: [step.answer, ...(await resultDrafts(deps, step, refused))],
    startedCalls: runnable.map(({ call }) => ({ callId: call.id, name: call.name })),
    askedCalls: asked.map(({ approvalId, call }) => ({ approvalId, callId: call.id, name: call.name })),
    approvalSeconds: expirySeconds,
    step: step.step,
    contextTokens: refused.length === 0 ? step.contextTokens : null,
  });
  if (appended.kind !== 'done') return appended;
  const atOnce = makeAtOnce(maxParallel);
  const run = (each: RunnableCall): Promise<Sent<null>> => atOnce(() => runCall(deps, step, each));
  const finished = await Promise.all([
    ...runnable.map(run),
    ...asked.map(async (each) => ((await each.decision) === 'approved' ? run(each) : appended)),
  ]);
  return finished.find(({ kind }) => kind !== 'done') ?? appended;
}

type JudgedCall = RefusedCall | RunnableCall;

interface RefusedCall {
  readonly kind: 'refused';
  readonly call: ToolCall;
  readonly text: string;
}

interface RunnableCall {
  readonly kind: 'runnable';
  readonly mode: Exclude<ApprovalMode, 'never'>;
  readonly call: ToolCall;
  readonly tool: ToolDescriptor;
  readonly arguments: Readonly<Record<string, unknown>>;
}

function beyond(call: ToolCall, limit: number): RefusedCall {
  const text = `The tool was not called: one answer may ask for no more than ${String(limit)} calls.`;
  return { kind: 'refused', call, text };
}

function tooManyAsked(limit: number): string {
  return `The tool was not called: it needs an approval, and no more than ${String(limit)} calls may wait for one at once.`;
}

function judge(
  call: ToolCall,
  available: readonly ToolDescriptor[],
  cutOff: boolean,
  policy: ApprovalPolicy,
): JudgedCall {
  const tool = available.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = available.map(({ name }) => name).join(', ');
    const text = `There is no tool called ${JSON.stringify(call.name)}. ${names === '' ? 'There are none.' : `There are: ${names}.`}`;
    return { kind: 'refused', call, text };
  }
  // No arguments at all mean none, unless the answer was cut off: then nobody knows what they would have been.
  const parsed = parseArguments(call.arguments === '' && !cutOff ? '{}' : call.arguments);
  if (parsed === null) {
    const text = 'The tool was not called: its arguments are not a JSON object. They may have been cut off.';
    return { kind: 'refused', call, text };
  }
  const mode = approvalMode(policy, tool, parsed);
  if (mode === 'never')
    return { kind: 'refused', call, text: 'The tool was not called: this use of it is not allowed.' };
  return { kind: 'runnable', mode, call, tool, arguments: parsed };
}

async function runCall(
  deps: ToolStepDependencies,
  step: ToolStep,
  { call, tool, arguments: given }: RunnableCall,
): Promise<Sent<null>> {
  const { sessionId, executionGeneration, signal } = step;
  await deps.failpoints.hit('tool.before_call');
  const request = { callId: call.id, sessionId, tool, arguments: given };
  const outcome = signal.aborted ? stoppedBefore : await deps.tools.call(request, signal).catch(brokenHost);
  await deps.failpoints.hit('tool.after_call');
  const { result, text } = resultOf(outcome);
  const [message] = await resultDrafts(deps, step, [{ call, text }]);
  if (message === undefined) return { kind: 'done', reply: null };
  return deps.sessions.send(sessionId, {
    kind: 'finish_call',
    executionGeneration,
    callId: call.id,
    name: call.name,
    result,
    message,
    step: step.step,
  });
}

function resultOf(outcome: ToolOutcome): { readonly result: ToolResultKind; readonly text: string } {
  if (outcome.kind === 'answered') return { result: outcome.isError ? 'failed' : 'answered', text: outcome.text };
  const effect = outcome.notStarted ? 'It had no effect.' : 'Whether it had an effect is unknown.';
  return { result: 'broken', text: `[The call came to no answer (${outcome.reason}): ${outcome.message} ${effect}]` };
}

/** A stop that comes between the intent and the call keeps it from starting. */
const stoppedBefore: ToolOutcome = {
  kind: 'broken',
  reason: 'aborted',
  message: 'It was stopped before it began.',
  notStarted: true,
};

/** The port says that it never happens; whether the tool had an effect is then unknown like everything else. */
function brokenHost(error: unknown): ToolOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'broken', reason: 'unavailable', message, notStarted: false };
}

async function resultDrafts(
  deps: ToolStepDependencies,
  { admissionId }: ToolStep,
  results: readonly { readonly call: ToolCall; readonly text: string }[],
): Promise<readonly MessageDraft[]> {
  const counts = await deps.tokens.count(results.map(({ text }) => text));
  return results.map(({ call, text }, index) => ({
    ...textDraft({
      role: 'tool',
      kind: 'tool',
      text,
      tokens: (counts[index] ?? 0) + messageOverheadTokens,
      admissionId,
    }),
    toolCallId: call.id,
  }));
}

/** A model that uses one id twice in a batch asks for one call. */
function distinct(calls: readonly ToolCall[]): readonly ToolCall[] {
  const byId = new Map<string, ToolCall>();
  for (const call of calls) if (!byId.has(call.id)) byId.set(call.id, call);
  return [...byId.values()];
}

function parseArguments(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
