import type { SessionProfile } from '../domain/session/state.ts';
import type { Digest } from '../ports/digest.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { Sent, Sessions } from './sessions.ts';

export interface CreateSessionInput {
  readonly principalId: string;
  /** Makes the call idempotent; without one every call makes a session. */
  readonly requestId: string | null;
  readonly source: string;
  readonly title: string | null;
  /** Each null takes the configured default. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly baseUrl: string | null;
  readonly cwd: string | null;
  readonly systemPrompt: string | null;
  readonly toolsets: readonly string[] | null;
}

export type SessionCreated = { readonly sessionId: string; readonly created: boolean };

/** Makes a session, or finds the one that the same request made. Other parameters give `request_conflict`. */
export type CreateSession = (input: CreateSessionInput) => Promise<Sent<SessionCreated>>;

/**
 * The answer to a request that has made a session before; null for a new one. It stays the same for ever, so what is
 * asked of a new session, such as what the configuration allows now, is asked only after this.
 */
export type FindCreated = (input: CreateSessionInput) => Promise<Sent<SessionCreated> | null>;

interface CreationRecords {
  readonly ledger: Ledger;
  readonly digest: Digest;
}

export function makeCreateSession(
  deps: CreationRecords & {
    readonly sessions: Sessions;
    readonly ids: IdSource;
    readonly clock: Clock;
    readonly tokens: TokenCounter;
    readonly defaultTarget: ModelTarget;
    /** The toolsets of a new session, and what they stand for at this moment. */
    readonly toolsFor: (input: CreateSessionInput) => Pick<SessionProfile, 'toolsets' | 'tools'>;
  },
): CreateSession {
  const { sessions, ids, clock, tokens, defaultTarget, toolsFor } = deps;
  const findCreated = makeFindCreated(deps);
  return async (input) => {
    const earlier = await findCreated(input);
    if (earlier !== null) return earlier;
    const sessionId = ids.next();
    const requestId = input.requestId ?? sessionId;
    const profile: SessionProfile = {
      principalId: input.principalId,
      requestId,
      requestDigest: digestOf(deps, input),
      source: input.source,
      title: input.title,
      provider: input.provider ?? defaultTarget.provider,
      model: input.model ?? defaultTarget.model,
      baseUrl: input.baseUrl ?? (input.provider === null ? defaultTarget.baseUrl : null),
      cwd: input.cwd,
      systemPrompt: input.systemPrompt,
      systemPromptTokens: input.systemPrompt === null ? 0 : ((await tokens.count([input.systemPrompt]))[0] ?? 0),
      ...toolsFor(input),
      forkedFrom: null,
      startedAt: clock.now(),
    };
    const sent = await sessions.send(sessionId, { kind: 'create', profile });
    if (sent.kind === 'done') return { kind: 'done', reply: { sessionId, created: true } };
    // Somebody else made it between the look and the append: the unique index has the last word.
    return (sent.kind === 'refused' ? await findCreated(input) : null) ?? sent;
  };
}

export function makeFindCreated(deps: CreationRecords): FindCreated {
  return async (input) => {
    const { principalId, requestId } = input;
    const earlier = requestId === null ? null : await deps.ledger.findCreated({ principalId, requestId });
    return earlier === null ? null : repeatedCreation(earlier, digestOf(deps, input));
  };
}

/** Of the parameters as they were given. */
function digestOf({ digest }: CreationRecords, input: CreateSessionInput): string {
  return digest.of(JSON.stringify({ ...input, principalId: null }));
}

/** The answer to a request that has made a session before. */
export function repeatedCreation(
  earlier: { readonly sessionId: string; readonly requestDigest: string },
  requestDigest: string,
): Sent<SessionCreated> {
  if (earlier.requestDigest === requestDigest) {
    return { kind: 'done', reply: { sessionId: earlier.sessionId, created: false } };
  }
  return { kind: 'refused', refusal: { reason: 'request_conflict', sessionId: earlier.sessionId } };
}
