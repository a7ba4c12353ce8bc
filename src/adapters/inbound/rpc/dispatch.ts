import { StorageError } from '../../../core/ports/ledger.ts';
import { fieldProblems } from '../../../protocol/field-problems.ts';
import { findMethod } from '../../../protocol/registry.ts';
import { failed } from './answer.ts';
import type { Answer } from './answer.ts';
import { makeApprovalHandlers } from './approval-handlers.ts';
import type { RpcDependencies } from './dependencies.ts';
import { makeGatewayHandlers } from './gateway-handlers.ts';
import { makeModelHandlers } from './model-handlers.ts';
import type { Call, Handlers } from './handler.ts';
import type { Lane } from './lane.ts';
import { makePromptHandlers } from './prompt-handlers.ts';
import { makeSessionHandlers } from './session-handlers.ts';
import { makeToolHandlers } from './tool-handlers.ts';

/** Answers a call. It rejects never; what it does before its first pause keeps the order of the calls. */
export type Dispatch = (
  request: { readonly method: string; readonly params: unknown },
  call: Call,
  lane: Lane,
) => Promise<Answer<unknown>>;

/**
 * Checks in the order of the protocol: shape, scope, session. The rest (known input id, draining, storage, revision,
 * queue) is decided with the command.
 */
export function makeDispatch(deps: RpcDependencies): Dispatch {
  const handlers: Handlers = {
    ...makeSessionHandlers(deps),
    ...makePromptHandlers(deps),
    ...makeApprovalHandlers(deps),
    ...makeGatewayHandlers(deps),
    ...makeModelHandlers(deps),
    ...makeToolHandlers(deps),
  };

  return async (request, call, lane) => {
    const method = findMethod(request.method);
    if (method === undefined) return failed('method_not_found');
    const parsed = method.params.safeParse(request.params);
    if (!parsed.success) {
      return failed('invalid_params', { fields: [...fieldProblems(method.params, parsed.error)] });
    }
    if (method.scope !== null && !call.principal.scopes.includes(method.scope)) {
      return failed('forbidden', { message: `The method needs the scope ${method.scope}.` });
    }
    const handler = handlers[method.name] as UncheckedHandler; // the parameters were parsed by this method's own schema
    const start = async (resolved: Resolved): Promise<Answer<unknown>> =>
      resolved === null
        ? failed('not_found', { what: 'session', message: 'There is no such session.' })
        : handler(resolved, call);
    try {
      const resolving = resolveSession(parsed.data as Params, call.principal.principalId); // every method's parameters are an object
      return await (method.order === 'arrival' ? lane.enter(resolving, start) : resolving.then(start));
    } catch (error) {
      return fault(method.name, error);
    }
  };

  /**
   * The parameters with the session's own id in place of any id of its lineage, or null where the caller has none such:
   * somebody else's session is not told from one that doesn't exist.
   */
  async function resolveSession(params: Params, principalId: string): Promise<Resolved> {
    if (params.session_id === undefined) return params;
    const sessionId = await deps.sessions.idOf(params.session_id, principalId);
    return sessionId === null ? null : { ...params, session_id: sessionId };
  }

  function fault(method: string, error: unknown): Answer<never> {
    const incident = deps.ids.next();
    deps.logger.error('a call failed unexpectedly', { incident, method, error });
    if (error instanceof StorageError && error.kind === 'too_large') {
      return failed('payload_too_large', { incident, outcome_unknown: false });
    }
    if (error instanceof StorageError) {
      return failed('storage_unavailable', { incident, outcome_unknown: error.outcomeUnknown });
    }
    return failed('internal', { incident, outcome_unknown: true });
  }
}

interface Params {
  readonly session_id?: string;
}

type Resolved = Params | null;

type UncheckedHandler = (params: Params, call: Call) => Promise<Answer<unknown>>;
