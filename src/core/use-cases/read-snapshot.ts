import { contextSize } from '../domain/compression/context-size.ts';
import type { ContextReport } from '../domain/compression/context-size.ts';
import { windowOfModel } from '../domain/compression/trigger.ts';
import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import { invariant } from '../domain/invariant.ts';
import { addressOf, startedAdmission } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { AdmissionWithPayload, SessionQueries, StoredApproval } from '../ports/session-queries.ts';
import type { Partial, ReadSnapshot } from './resume-session.ts';
import type { Sessions } from './sessions.ts';

export interface ReadSnapshotDependencies {
  readonly sessions: Sessions;
  readonly queries: SessionQueries;
  readonly catalog: ModelCatalog;
  readonly policy: CompressionPolicy;
  readonly maxOutputTokens: number | null;
  readonly partialOf: (sessionId: string) => Partial | null;
}

/** How often a snapshot is read again when the session moves on meanwhile. */
const maxTries = 100;

export function makeReadSnapshot(deps: ReadSnapshotDependencies): ReadSnapshot {
  return async ({ sessionId, messageLimit, before }) => {
    for (let attempt = 1; ; attempt += 1) {
      const state = await deps.sessions.state(sessionId);
      if (state === null || state.deletedAt !== null) return null;
      const page = await deps.queries.messagesBefore({
        transcriptId: state.lineage.tipId,
        before: before ?? nextId(state),
        limit: messageLimit,
      });
      const pending = await readPending(deps.queries, state);
      const approvals = await readApprovals(deps.queries, state);
      // The store was at the state's own sequence number when all this was read: everything is of one instant.
      const now = await deps.queries.findSession(sessionId);
      if (now?.lastSeq !== state.seq && attempt < maxTries) continue;
      invariant(now?.lastSeq === state.seq, 'a session holds still for a snapshot in the end');
      const partial = deps.partialOf(sessionId);
      return {
        state,
        messages: page.messages,
        moreMessages: page.more,
        pending,
        approvals,
        partial: belongsTo(state, partial) ? partial : null,
        context: contextReport(deps, state),
      };
    }
  };
}

/** The open admissions of the state, with their payloads; the state has the last word on their status. */
async function readPending(queries: SessionQueries, state: SessionState): Promise<readonly AdmissionWithPayload[]> {
  if (state.open.length === 0) return [];
  const { admissions } = await queries.listAdmissions({
    sessionId: state.sessionId,
    include: 'open',
    limit: state.open.length + 1,
    after: null,
  });
  const payloads = new Map(admissions.map(({ admission, payload }) => [admission.admissionId, payload]));
  return state.open.flatMap((admission) => {
    const payload = payloads.get(admission.admissionId);
    return payload === undefined ? [] : [{ admission, payload }];
  });
}

/** The open requests for approval of the state, with the arguments of their calls. */
async function readApprovals(queries: SessionQueries, state: SessionState): Promise<readonly StoredApproval[]> {
  if (state.approvals.length === 0) return [];
  return queries.openApprovals({ of: { sessionId: state.sessionId }, limit: state.approvals.length });
}

/** Only what the turn that runs in this state says belongs to it. */
function belongsTo(state: SessionState, partial: Partial | null): boolean {
  return startedAdmission(state)?.executionGeneration === partial?.executionGeneration;
}

function contextReport(
  deps: Pick<ReadSnapshotDependencies, 'catalog' | 'policy' | 'maxOutputTokens'>,
  state: SessionState,
): ContextReport {
  const { systemPromptTokens } = state.profile;
  const own = addressOf(state.profile);
  const limits = deps.catalog.limits(own);
  return {
    ...contextSize(state, own, { systemTokens: systemPromptTokens, toolTokens: 0, promptTokens: 0 }),
    ...windowOfModel(deps.policy, limits, deps.maxOutputTokens),
    windowSource: limits.source,
    compressionEnabled: deps.policy.enabled,
    breaker: state.lineage.breaker,
  };
}

function nextId(state: SessionState): number {
  return (state.messages.at(-1)?.id ?? 0) + 1;
}
