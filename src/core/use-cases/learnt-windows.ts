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

/**
 * How long a stated window is believed, in seconds. A server may be restarted with a larger one; a request that
 * doesn't fit then teaches the gateway again.
 */
const believedSeconds = 7 * 24 * 3600;

/** The smaller of the known and the learnt window counts. Where nobody knows one, the learnt one does. */
export function makeLearningCatalog(deps: {
  readonly catalog: ModelCatalog;
  readonly clock: Pick<Clock, 'now'>;
}): LearningCatalog {
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
    return isBefore(deps.clock.now(), addSeconds(learntAt, believedSeconds));
  }
}

/** Keeps what a provider has stated of a model's window, when that is news. */
export type LearnWindow = (sessionId: string, model: ModelAddress, stated: LearntLimit | null) => Promise<void>;

export function makeLearnWindow(deps: { readonly sessions: Sessions; readonly catalog: ModelCatalog }): LearnWindow {
  return async (sessionId, { provider, model, baseUrl }, stated) => {
    if (stated === null) return;
    const { contextTokens, source } = deps.catalog.limits({ provider, model, baseUrl });
    if (source !== 'default' && stated.contextTokens >= contextTokens) return;
    await deps.sessions.send(sessionId, {
      kind: 'learn_window',
      model: { provider, model, baseUrl },
      windowTokens: stated.contextTokens,
    });
  };
}

function keyOf({ provider, model, baseUrl }: ModelAddress): string {
  return JSON.stringify([provider, model, baseUrl]);
}
