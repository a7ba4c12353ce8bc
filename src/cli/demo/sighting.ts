import type { DurableWireEvent } from '../../protocol/events.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { listPrompts, type ListedPrompt } from '../commands/queue.ts';
import type { GatewayConnection } from '../gateway-connection.ts';

/** All that a gateway answers about the demo's session at one moment. */
export interface Sighting {
  readonly session: ResultOf<'session.get'>;
  /** Every admission, with its receipt. */
  readonly prompts: readonly ListedPrompt[];
  /** The whole durable log. */
  readonly events: readonly DurableWireEvent[];
}

export async function lookAt(connection: GatewayConnection, sessionId: string): Promise<Sighting> {
  const session = await connection.call('session.get', { session_id: sessionId });
  const prompts = await listPrompts(connection, sessionId, 'all');
  return { session, prompts, events: await readLog(connection, sessionId) };
}

async function readLog(connection: GatewayConnection, sessionId: string): Promise<readonly DurableWireEvent[]> {
  const events: DurableWireEvent[] = [];
  for (;;) {
    const page = await connection.call('session.events', { session_id: sessionId, after_seq: events.at(-1)?.seq ?? 0 });
    events.push(...page.events);
    if (page.events.length === 0 || events.at(-1)?.seq === page.last_seq) return events;
  }
}

export type EventOf<T extends DurableWireEvent['type']> = Extract<DurableWireEvent, { type: T }>;

/** The events of one type, of the whole session or of one admission. */
export function eventsOf<T extends DurableWireEvent['type']>(
  { events }: Pick<Sighting, 'events'>,
  type: T,
  admissionId?: string,
): readonly EventOf<T>[] {
  return events.filter(
    (event): event is EventOf<T> =>
      event.type === type && (admissionId === undefined || event.admission_id === admissionId),
  );
}

/** The session's transcripts from the root to the open one, as its compressions chained them. */
export function lineageOf(sighting: Sighting): readonly string[] {
  const [first, ...rest] = eventsOf(sighting, 'compression.completed').map(({ payload }) => payload);
  if (first === undefined) return [sighting.session.stored_session_id];
  return [first.parent_transcript, ...[first, ...rest].map(({ child_transcript }) => child_transcript)];
}
