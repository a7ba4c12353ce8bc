import type { DurableWireEvent } from '../../protocol/events.ts';
import type { WireReceipt } from '../../protocol/receipt.ts';
import type { ProcessEnd } from './gateway-process.ts';
import { eventsOf, type Sighting } from './sighting.ts';

/** What was seen in one run of the demo. Table, checks and JSON are made of this and of nothing else. */
export interface DemoRecord {
  readonly sessionId: string;
  readonly gateways: readonly DemoGateway[];
  /** The receipts as they came, in the order of sending. */
  readonly fillers: readonly WireReceipt[];
  readonly leader: WireReceipt;
  readonly followers: readonly WireReceipt[];
  /** The events that were heard live before the kill. */
  readonly heard: readonly DurableWireEvent[];
  readonly beforeKill: Sighting;
  readonly afterRestart: Sighting;
  /** The receipts of the leader and the followers, sent once more after the restart. */
  readonly sentAgain: readonly WireReceipt[];
  readonly afterDrain: Sighting;
  /** By the third process, after a clean stop. */
  readonly atEnd: Sighting;
}

export interface DemoGateway {
  readonly pid: number;
  readonly epoch: number;
  readonly instanceId: string;
  /** Null for the one that still ran. */
  readonly ended: ProcessEnd | null;
}

/** One admission through the whole demo. */
export interface AdmissionStory {
  readonly inputId: string;
  readonly admissionId: string;
  readonly sequence: number;
  readonly beforeKill: string;
  readonly afterRestart: string;
  readonly atEnd: string;
  /** How often its turn was started, by the durable log. */
  readonly runs: number;
}

export function storiesOf(record: DemoRecord): readonly AdmissionStory[] {
  const { beforeKill, afterRestart, atEnd } = record;
  return receiptsOf(record).map(({ input_id, admission_id, sequence }) => ({
    inputId: input_id,
    admissionId: admission_id,
    sequence,
    beforeKill: stateIn(beforeKill, admission_id),
    afterRestart: stateIn(afterRestart, admission_id),
    atEnd: stateIn(atEnd, admission_id),
    runs: eventsOf(atEnd, 'turn.started', admission_id).length,
  }));
}

/** Every receipt that was given at acceptance, in that order. */
export function receiptsOf({ fillers, leader, followers }: DemoRecord): readonly WireReceipt[] {
  return [...fillers, leader, ...followers];
}

/** The outcome of an admission, or where it stands while it has none. */
function stateIn({ prompts }: Sighting, admissionId: string): string {
  const found = prompts.find(({ admission_id }) => admission_id === admissionId);
  return found === undefined ? 'missing' : (found.outcome ?? found.status);
}
