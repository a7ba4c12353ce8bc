import type { Command } from '../../src/core/domain/session/commands.ts';
import { aDraft, anAnswer, aPayload, aPrincipal, aSummary } from './builders.ts';
import { admissionIdOf } from './history.ts';

/* Commands that fit the events of `history.ts`: `submit(2)` asks for what `queued(2)` tells. */

export function submit(n: number, overrides: Partial<Command<'submit'>> = {}): Command<'submit'> {
  return {
    kind: 'submit',
    admissionId: admissionIdOf(n),
    inputId: `input-${String(n)}`,
    principalId: aPrincipal,
    requestDigest: `digest-of-request-${String(n)}`,
    payload: aPayload(),
    payloadDigest: `digest-of-payload-${String(n)}`,
    known: undefined,
    ...overrides,
  };
}

export function steer(n: number, overrides: Partial<Command<'steer'>> = {}): Command<'steer'> {
  return { ...submit(n), kind: 'steer', executionGeneration: 1, ifOver: 'cancel', ...overrides };
}

export function mergeSteers(...ns: readonly number[]): Command<'merge_steers'> {
  const steers = ns.map((n) => ({ admissionId: admissionIdOf(n), message: aDraft({ kind: 'steer' }) }));
  return { kind: 'merge_steers', executionGeneration: 1, steers, step: 1 };
}

export function receipt(n: number, overrides: Partial<Command<'receipt'>> = {}): Command<'receipt'> {
  return { kind: 'receipt', key: { admissionId: admissionIdOf(n) }, known: undefined, ...overrides };
}

export function cancel(n: number, overrides: Partial<Command<'cancel'>> = {}): Command<'cancel'> {
  return { kind: 'cancel', key: { admissionId: admissionIdOf(n) }, revision: null, known: undefined, ...overrides };
}

export function interrupt(executionGeneration: number, by: string = aPrincipal): Command<'interrupt'> {
  return { kind: 'interrupt', executionGeneration, by };
}

export function resolveUnknown(
  n: number,
  overrides: Partial<Command<'resolve_unknown'>> = {},
): Command<'resolve_unknown'> {
  return {
    kind: 'resolve_unknown',
    admissionId: admissionIdOf(n),
    executionGeneration: 1,
    action: 'discard',
    by: aPrincipal,
    retryAdmissionId: 'admission-of-retry',
    known: undefined,
    ...overrides,
  };
}

export function hold(overrides: Partial<Command<'hold'>['hold']> = {}): Command<'hold'> {
  return { kind: 'hold', hold: { reason: 'operator', until: null, by: aPrincipal, ...overrides } };
}

export function update(
  changes: Command<'update'>['changes'],
  overrides: Partial<Command<'update'>> = {},
): Command<'update'> {
  return { kind: 'update', changes, revision: null, by: aPrincipal, ...overrides };
}

export const remove: Command<'delete'> = { kind: 'delete', by: aPrincipal };

export function edit(n: number, overrides: Partial<Command<'edit'>> = {}): Command<'edit'> {
  return {
    kind: 'edit',
    key: { admissionId: admissionIdOf(n) },
    revision: null,
    payload: aPayload({ text: 'Something else' }),
    payloadDigest: 'digest-of-another-payload',
    known: undefined,
    ...overrides,
  };
}

export function move(n: number, to: Command<'move'>['to'] = 'last'): Command<'move'> {
  return { kind: 'move', key: { admissionId: admissionIdOf(n) }, revision: null, to, known: undefined };
}

export const release: Command<'release'> = { kind: 'release', by: aPrincipal, until: null };

/** Without a prompt the turn starts at boundary `none`. */
export function claim(n: number, prompt: Command<'claim'>['prompt'] = null): Command<'claim'> {
  return { kind: 'claim', admissionId: admissionIdOf(n), prompt };
}

export function dispatch(n: number, executionGeneration = 1): Command<'dispatch'> {
  return { kind: 'dispatch', executionGeneration, prompt: aDraft({ admissionId: admissionIdOf(n) }) };
}

export function append(overrides: Partial<Command<'append'>> = {}): Command<'append'> {
  return {
    kind: 'append',
    executionGeneration: 1,
    messages: [],
    startedCalls: [],
    askedCalls: [],
    approvalSeconds: 600,
    step: 2,
    contextTokens: null,
    ...overrides,
  };
}

export function respondApproval(overrides: Partial<Command<'respond_approval'>> = {}): Command<'respond_approval'> {
  return { kind: 'respond_approval', approvalId: 'approval-1', answer: 'approve', by: aPrincipal, ...overrides };
}

export function finishCall(overrides: Partial<Command<'finish_call'>> = {}): Command<'finish_call'> {
  const message = { ...aDraft({ role: 'tool', kind: 'tool' }), toolCallId: 'call-1' };
  return {
    kind: 'finish_call',
    executionGeneration: 1,
    callId: 'call-1',
    name: 'look',
    result: 'answered',
    message,
    step: 1,
    ...overrides,
  };
}

export function settle(overrides: Partial<Command<'settle'>> = {}): Command<'settle'> {
  return {
    kind: 'settle',
    executionGeneration: 1,
    outcome: 'completed',
    answer: anAnswer(),
    step: 1,
    failure: null,
    usage: null,
    contextTokens: null,
    holdOnOutage: false,
    ...overrides,
  };
}

export function startCompression(overrides: Partial<Command<'start_compression'>> = {}): Command<'start_compression'> {
  return {
    kind: 'start_compression',
    compressionId: 'compression-1',
    trigger: 'preflight',
    executionGeneration: 1,
    tokensBefore: 100,
    ...overrides,
  };
}

export function rotate(overrides: Partial<Command<'rotate'>> = {}): Command<'rotate'> {
  return {
    kind: 'rotate',
    compressionId: 'compression-1',
    executionGeneration: 1,
    plan: { head: [], middle: [], tail: [] },
    childTranscript: 'transcript-2',
    summary: aSummary(),
    tokensBefore: 100,
    tokensAfter: 40,
    model: 'summary-model',
    usage: null,
    ...overrides,
  };
}

export function compressByHand(overrides: Partial<Command<'compress_by_hand'>> = {}): Command<'compress_by_hand'> {
  return {
    kind: 'compress_by_hand',
    compressionId: 'compression-1',
    tokensBefore: 100,
    request: { principalId: aPrincipal, requestId: 'request-1', requestDigest: 'digest-1' },
    ...overrides,
  };
}

export function learnWindow(overrides: Partial<Command<'learn_window'>> = {}): Command<'learn_window'> {
  const model = { provider: 'custom', model: 'test-model', baseUrl: null };
  return { kind: 'learn_window', model, windowTokens: 5000, ...overrides };
}

export function failCompression(overrides: Partial<Command<'fail_compression'>> = {}): Command<'fail_compression'> {
  return {
    kind: 'fail_compression',
    compressionId: 'compression-1',
    failure: {
      reason: 'unavailable',
      message: 'The model is down.',
      retryable: true,
      providerStatus: 503,
      retryAfterMs: null,
    },
    usage: null,
    opensBreaker: true,
    ...overrides,
  };
}

export function recover(onUnknown: 'hold' | 'discard' = 'hold'): Command<'recover'> {
  return { kind: 'recover', onUnknown };
}
