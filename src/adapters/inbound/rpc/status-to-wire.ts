import type { ToolServerHealth } from '../../../core/ports/tool-host.ts';
import type { WireToolServer } from '../../../protocol/gateway.ts';
import type { Admission } from '../../../core/domain/admission/admission.ts';
import type { GatewayStatus, RunningTurn } from '../../../core/use-cases/gateway-status.ts';
import { protocolName } from '../../../protocol/limits.ts';
import type { ResultOf } from '../../../protocol/registry.ts';
import { holdToWire } from './snapshot-to-wire.ts';

type StatusOnWire = ResultOf<'gateway.status'>;

export function statusToWire(status: GatewayStatus, version: string): StatusOnWire {
  const { provider, model, baseUrl } = status.defaultTarget;
  const { queued, started, unknown, terminal } = status.counts.admissions;
  return {
    state: status.phase,
    version,
    protocol: protocolName,
    instance_id: status.instanceId,
    epoch: status.epoch,
    store_id: status.storeId,
    started_at: status.startedAt,
    uptime_ms: Math.max(0, Math.round(status.uptimeMs)),
    model: { provider, model, base_url: baseUrl },
    running: status.running.map(runningToWire),
    waiting_sessions: status.waitingSessions,
    max_concurrent_turns: status.maxConcurrentTurns,
    storage: status.storage,
    tools: status.tools.map(toolServerToWire),
    sessions: status.counts.sessions,
    admissions: { queued, started, unknown, terminal },
    breakers: status.breakers.map(({ sessionId, openUntil, reason, failures }) => ({
      session_id: sessionId,
      open_until: openUntil ?? status.startedAt,
      reason: reason ?? 'failed',
      failures,
    })),
    held: status.held.map(({ sessionId, hold, queued }) => ({ session_id: sessionId, hold: holdToWire(hold), queued })),
    unknown: status.unknown.map(unknownToWire),
  };
}

function runningToWire(turn: RunningTurn): StatusOnWire['running'][number] {
  return {
    session_id: turn.sessionId,
    admission_id: turn.admissionId,
    execution_generation: turn.executionGeneration,
    step: turn.step,
    started_at: turn.startedAt,
    activity: turn.activity,
  };
}

function unknownToWire(admission: Admission): StatusOnWire['unknown'][number] {
  return {
    session_id: admission.sessionId,
    admission_id: admission.admissionId,
    input_id: admission.inputId,
    execution_generation: admission.executionGeneration,
    boundary: admission.boundary,
    lost_at: admission.evidence?.lostAt ?? null,
  };
}

export function toolServerToWire({ server, state, tools, restarts, lastError }: ToolServerHealth): WireToolServer {
  return { server, state, tools, restarts, last_error: lastError };
}
