import type { SessionCreated } from '../../../core/use-cases/create-session.ts';
import type { Sent } from '../../../core/use-cases/sessions.ts';
import { blockersOf } from '../../../core/domain/session/state.ts';
import { failed, result } from './answer.ts';
import type { Answer } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import { changesFromWire, createInputFromWire, payloadFromWire } from './from-wire.ts';
import type { Call, HandlersOf } from './handler.ts';
import { blockersToWire, makeReceiptToWire } from './receipt-to-wire.ts';
import { answerOf } from './refusal-to-wire.ts';
import { contextToWire, holdToWire, snapshotToWire, summaryToWire } from './snapshot-to-wire.ts';
import { makeCompressHandler } from './compress-handler.ts';
import { makeHistoryHandlers } from './history-handlers.ts';
import { makeSessionEventHandlers } from './session-event-handlers.ts';
import type { Reservation } from './subscriptions.ts';
import type { WireSnapshot } from '../../../protocol/snapshot.ts';

/** How many of a fork's messages its answer shows. */
const forkPageSize = 200;

type NewSession = WireSnapshot & { readonly created: boolean };

const noSuchSession = (): Answer<never> =>
  failed('not_found', { what: 'session', message: 'There is no such session.' });

/** Sessions as a whole: making them, looking at them, stopping and pausing them. */
export function makeSessionHandlers(deps: RpcDependencies): HandlersOf<'session'> {
  const { sessions, queries } = deps;
  const receiptToWire = makeReceiptToWire(deps);
  return {
    ...makeSessionEventHandlers(deps),
    ...makeHistoryHandlers(deps),

    'session.create': async (params, call) => {
      const input = createInputFromWire(params, call.principal.principalId);
      const earlier = await deps.findCreated(input);
      if (earlier !== null) return openMade(earlier, params.message_limit, call);
      const problems = deps.checkNewSession(input);
      if (problems.length > 0) return failed('invalid_params', { fields: [...problems] });
      return openNew(() => deps.createSession(input), params.message_limit, call);
    },

    'session.resume': (params, call) =>
      open(params.session_id, { messageLimit: params.message_limit, before: params.before ?? null }, call),

    'session.get': async ({ session_id }) => {
      const summary = await queries.findSession(session_id);
      const state = await sessions.state(session_id);
      if (summary === null || state === null || state.deletedAt !== null) return noSuchSession();
      return result({
        ...summaryToWire(summary),
        hold: state.hold === null ? null : holdToWire(state.hold),
        blocked_by: blockersToWire(blockersOf(state), deps.storage()),
        context: contextToWire(deps.reportContext(state)),
      });
    },

    'session.list': async ({ archived, limit, cursor }, { principal: { principalId } }) => {
      const before = cursor === undefined ? null : await sessions.idOf(cursor, principalId);
      if (cursor !== undefined && before === null) {
        return failed('invalid_params', { fields: [{ path: 'cursor', message: 'is not the cursor of a page' }] });
      }
      const page = await queries.listSessions({
        principalId,
        archived: archived === 'include' ? null : archived === 'only',
        limit,
        before,
      });
      return result({ sessions: page.sessions.map(summaryToWire), next_cursor: page.next });
    },

    'session.fork': (params, call) => {
      const input = {
        principalId: call.principal.principalId,
        requestId: params.request_id ?? null,
        sessionId: params.session_id,
        messageId: params.message_id,
        title: params.title ?? null,
      };
      return openNew(() => deps.forkSession(input), forkPageSize, call);
    },

    'session.update': async (params, { principal }) => {
      const { changes, problems } = changesFromWire(params, deps.checkAddress);
      if (problems.length > 0) return failed('invalid_params', { fields: [...problems] });
      const { session_id, revision = null } = params;
      const sent = await sessions.send(session_id, { kind: 'update', changes, revision, by: principal.principalId });
      return answerOf(sent, (reply) => ({ session_id, revision: reply.revision }));
    },

    'session.delete': async ({ session_id }, { principal }) => {
      const sent = await sessions.send(session_id, { kind: 'delete', by: principal.principalId });
      return answerOf(sent, ({ deletedAt }) => ({ session_id, deleted_at: deletedAt }));
    },

    'session.interrupt': async ({ session_id, execution_generation }, { principal }) => {
      const by = principal.principalId;
      const sent = await sessions.send(session_id, {
        kind: 'interrupt',
        executionGeneration: execution_generation,
        by,
      });
      return answerOf(sent, ({ admissionId, executionGeneration }) => ({
        session_id,
        admission_id: admissionId,
        execution_generation: executionGeneration,
      }));
    },

    'session.steer': async (params, { principal }) => {
      const sent = await deps.steerPrompt({
        sessionId: params.session_id,
        principalId: principal.principalId,
        inputId: params.input_id,
        payload: payloadFromWire(params),
        executionGeneration: params.execution_generation,
        ifOver: params.if_over,
      });
      return answerOf(sent, receiptToWire);
    },
    'session.compress': makeCompressHandler(deps),

    'session.hold': async ({ session_id, reason, until }, { principal }) => {
      const hold = { reason, until: until ?? null, by: principal.principalId };
      const sent = await sessions.send(session_id, { kind: 'hold', hold });
      return answerOf(sent, ({ revision }) => ({ session_id, revision }));
    },

    'session.release': async ({ session_id }, { principal }) => {
      const sent = await sessions.send(session_id, { kind: 'release', by: principal.principalId, until: null });
      return answerOf(sent, ({ revision }) => ({ session_id, revision }));
    },
  };

  /** Without room for its subscription a session isn't made: a client that repeats the refused call would make orphans. */
  async function openNew(
    make: () => Promise<Sent<SessionCreated>>,
    messageLimit: number,
    call: Call,
  ): Promise<Answer<NewSession>> {
    const giveBack = call.subscriptions.keepPlace();
    if (giveBack === null) return tooManySubscriptions();
    let sent: Sent<SessionCreated>;
    try {
      sent = await make();
    } finally {
      giveBack();
    }
    return openMade(sent, messageLimit, call);
  }

  /** The snapshot of a session that was made for this request, now or before. It takes its place before its first pause. */
  async function openMade(sent: Sent<SessionCreated>, messageLimit: number, call: Call): Promise<Answer<NewSession>> {
    if (sent.kind !== 'done') return answerOf<never, never>(sent, (reply) => reply);
    const { sessionId, created } = sent.reply;
    const answer = await open(sessionId, { messageLimit, before: null }, call);
    return answer.kind === 'error' ? answer : result({ ...answer.result, created });
  }

  /** A snapshot and a subscription from it on. The place is taken before the snapshot is read. */
  async function open(
    sessionId: string,
    page: { readonly messageLimit: number; readonly before: number | null },
    { subscriptions, replied }: Call,
  ): Promise<Answer<WireSnapshot>> {
    const reservation = subscriptions.reserve(sessionId);
    if (reservation === null) return tooManySubscriptions();
    const snapshot = await orCancel(reservation, deps.readSnapshot({ sessionId, ...page }));
    if (snapshot === null) {
      reservation.cancel();
      return noSuchSession();
    }
    reservation.start(snapshot.state.seq, replied);
    return result(snapshotToWire(snapshot, { ...deps.identity(), storage: deps.storage() }));
  }

  function tooManySubscriptions(): Answer<never> {
    return failed('overloaded', { limit: deps.limits.max_subscriptions });
  }
}

async function orCancel<T>(reservation: Reservation, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    reservation.cancel();
    throw error;
  }
}
