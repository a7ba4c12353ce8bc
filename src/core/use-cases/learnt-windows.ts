import { addSeconds, isBefore } from '../domain/instant.ts';
import type { ModelAddress } from '../domain/session/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { LearntWindow } from '../ports/ledger.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { LearntLimit } from '../ports/model-provider.ts';
import type { CommitListener, Sessions } from './sessions.ts';

/** A catalogue that also knows what providers have stated of their models. */
export interface LearningCatalog extends ModelCatalog {
  /** Takes over what was learnt before this process. */
  load(windows: readonly LearntWindow[]): void;
  readonly observe: CommitListener;
}

export interface LearningRules {
  /**
   * How long a stated window is believed, in seconds. A server may be restarted with a larger one; a request that
   * doesn't fit then teaches the gateway again. 0: nothing is learnt, and nothing that was learnt is believed.
   */
  readonly learntWindowSeconds: number;
}

/** The smaller of the known and the learnt window counts. Where nobody knows one, the learnt one does. */
export function makeLearningCatalog(
  deps: LearningRules & {
    readonly catalog: ModelCatalog;
    readonly clock: Pick<Clock, 'now'>;
  },
): LearningCatalog {
  const learnt = new Map<string, LearntWindow>();
  const keep = (window: LearntWindow): void => void learnt.set(keyOf(window.model), window);

  return {
    load: (windows) => {
      windows.forEach(keep);
    },
    observe: (_sessionId, _state, events) => {
      for (const event of events) {
        if (event.type === 'window.learnt') keep({ ...event, learntAt: event.at });
      }
    },
    limits(target) {
      const known = deps.catalog.limits(target);
      const stated = learnt.get(keyOf(target));
      if (stated === undefined || !isBelieved(stated)) return known;
      if (known.source !== 'default' && stated.windowTokens >= known.contextTokens) return known;
      return { ...known, contextTokens: stated.windowTokens, source: 'learnt' };
    },
  };

  function isBelieved({ learntAt }: LearntWindow): boolean {
    return isBefore(deps.clock.now(), addSeconds(learntAt, deps.learntWindowSeconds));
  }
}

/**
 * Keeps what a provider has stated of a model's window, when that is news and can be true. `sentTokens` is the local count
 * of the refused request, with the answer that it asked for. A number in an error may be a quotation: one that the
 * request was far below, or that the model has lately been seen to read more than, is no window.
 */
export type LearnWindow = (
  sessionId: string,
  model: ModelAddress,
  stated: LearntLimit | null,
  sentTokens: number,
) => Promise<void>;

/** A request that is refused for its size is at least this share of the window: our count is rarely half of a provider's. */
const refusedShare = 0.5;

export function makeLearnWindow(
  deps: LearningRules & {
    readonly sessions: Sessions;
    readonly catalog: ModelCatalog;
    readonly accepted: AcceptedInputs;
  },
): LearnWindow {
  return async (sessionId, { provider, model, baseUrl }, stated, sentTokens) => {
    if (deps.learntWindowSeconds === 0) return;
    if (stated === null || sentTokens < refusedShare * stated.contextTokens) return;
    if (deps.accepted.largest({ provider, model, baseUrl }) > stated.contextTokens) return;
    const { contextTokens, source } = deps.catalog.limits({ provider, model, baseUrl });
    if (source !== 'default' && stated.contextTokens >= contextTokens) return;
    await deps.sessions.send(sessionId, {
      kind: 'learn_window',
      model: { provider, model, baseUrl },
      windowTokens: stated.contextTokens,
    });
  };
}

/** The largest inputs that models have been seen to read, while this process lives. */
export interface AcceptedInputs {
  saw(model: ModelAddress, inputTokens: number): void;
  /** 0: nothing was seen lately. */
  largest(model: ModelAddress): number;
}

/** How long an accepted input contradicts a smaller window, in seconds: the server may be started anew with less. */
const acceptedSeconds = 24 * 3600;
/** Clients may name models; of more of them than this the one that was met first is forgotten. */
const maxAccepted = 1000;

export function makeAcceptedInputs({ now }: Pick<Clock, 'now'>): AcceptedInputs {
  const inputs = new Map<string, { readonly tokens: number; readonly until: string }>();
  const largest = (model: ModelAddress): number => {
    const known = inputs.get(keyOf(model));
    return known !== undefined && isBefore(now(), known.until) ? known.tokens : 0;
  };
  return {
    largest,
    saw(model, inputTokens) {
      if (inputTokens <= largest(model)) return;
      const [first] = inputs.keys();
      if (first !== undefined && inputs.size >= maxAccepted) inputs.delete(first);
      inputs.set(keyOf(model), { tokens: inputTokens, until: addSeconds(now(), acceptedSeconds) });
    },
  };
}

function keyOf({ provider, model, baseUrl }: ModelAddress): string {
  return JSON.stringify([provider, model, baseUrl]);
}
