import type { SessionEvent } from '../domain/session/events.ts';

/** What happens while a turn or a compression runs and nobody stores. */
export type LiveEvent = DeltaEvent | CompressionProgressEvent;

/** What a model says. `offset` is in UTF-8 bytes of the step's text so far. */
export type DeltaEvent = LiveHeader<'message.delta' | 'reasoning.delta'> & {
  readonly admissionId: string;
  readonly step: number;
  readonly offset: number;
  readonly text: string;
};

/** A summary is asked for. */
export type CompressionProgressEvent = LiveHeader<'compression.progress'> & {
  /** Null for a compression by hand. */
  readonly admissionId: string | null;
  readonly compressionId: string;
  readonly rung: string;
  readonly model: string;
  readonly form: string;
  readonly request: number;
};

interface LiveHeader<T extends string> {
  readonly type: T;
  readonly sessionId: string;
  readonly at: string;
  readonly epoch: number;
  readonly executionGeneration: number;
}

export interface HubListener {
  /** Durable events in order of their commit, each once. */
  durable(events: readonly SessionEvent[]): void;
  live(event: LiveEvent): void;
}

/**
 * Hands events to whoever listens in this process, synchronously and in order. A listener that throws harms nobody
 * else. Nothing is kept: who needs the past reads the log.
 */
export interface EventHub {
  publish(sessionId: string, events: readonly SessionEvent[]): void;
  publishLive(event: LiveEvent): void;
  /** Whether a live event of this session would reach anybody. */
  hasListeners(sessionId: string): boolean;
  listen(sessionId: string, listener: HubListener): () => void;
}
