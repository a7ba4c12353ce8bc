import { isDeepStrictEqual } from 'node:util';
import type { WireReceipt } from '../../protocol/receipt.ts';
import { receiptsOf, storiesOf, type DemoRecord } from './record.ts';
import { eventsOf, lineageOf, type Sighting } from './sighting.ts';

export interface Check {
  /** What must hold, as a sentence. */
  readonly promise: string;
  readonly holds: boolean;
}

/** What the demo is to show, each decided by what was seen. */
export function checksOf(record: DemoRecord): readonly Check[] {
  return promises.map(([promise, holdsIn]) => ({ promise, holds: holdsIn(record) }));
}

const promises: readonly (readonly [string, (record: DemoRecord) => boolean])[] = [
  ['Every prompt kept its admission and its place, from its receipt to the end.', identityIsKept],
  ['Prompts that were sent again were known: none was added.', repeatsAreKnown],
  ['Every event heard before the kill is in the log after it, unchanged.', logIsKept],
  ['A preflight compressed the transcript while the followers were queued.', queueSawCompression],
  ['The killed turn was unknown, then interrupted, and never ran again.', lostTurnIsNotReplayed],
  ['The followers waited for the decision and ran in the order of their receipts.', followersRanInOrder],
  ['Every prompt ran once: one start, one copy in the log, one end.', eachRanOnce],
  ['Every follower completed, with one answer.', followersCompleted],
  ['The followers ran on the compressed transcript.', followersRanCompressed],
  ['The lineage stayed the same: one compression, two transcripts.', lineageIsKept],
  ['A clean stop and a third start changed nothing.', cleanStopChangedNothing],
];

function identityIsKept(record: DemoRecord): boolean {
  const given = receiptsOf(record).map(identity);
  return [record.beforeKill, record.afterRestart, record.afterDrain, record.atEnd].every(({ prompts }) =>
    isDeepStrictEqual(
      prompts.map(identity).toSorted((a, b) => a.sequence - b.sequence),
      given,
    ),
  );
}

function identity({ admission_id, input_id, session_id, sequence }: WireReceipt) {
  return { admission_id, input_id, session_id, sequence };
}

function repeatsAreKnown({ leader, followers, sentAgain }: DemoRecord): boolean {
  return (
    isDeepStrictEqual(sentAgain.map(identity), [leader, ...followers].map(identity)) &&
    sentAgain.every(({ duplicate }) => duplicate)
  );
}

function logIsKept({ heard, afterRestart }: DemoRecord): boolean {
  const kept = new Map(afterRestart.events.map((event) => [event.seq, event]));
  return heard.length > 0 && heard.every((event) => isDeepStrictEqual(kept.get(event.seq), event));
}

function queueSawCompression({ leader, followers, beforeKill }: DemoRecord): boolean {
  const [compression] = eventsOf(beforeKill, 'compression.completed', leader.admission_id);
  return (
    compression?.payload.trigger === 'preflight' &&
    followers.every(({ admission_id }) =>
      eventsOf(beforeKill, 'admission.queued', admission_id).some(({ seq }) => seq < compression.seq),
    )
  );
}

function lostTurnIsNotReplayed({ gateways, leader, afterRestart, atEnd }: DemoRecord): boolean {
  const id = leader.admission_id;
  return (
    gateways[0]?.ended?.signal === 'SIGKILL' &&
    receiptIn(afterRestart, id)?.status === 'unknown' &&
    receiptIn(atEnd, id)?.outcome === 'interrupted' &&
    eventsOf(atEnd, 'turn.lost', id).length === 1 &&
    eventsOf(atEnd, 'turn.resolved', id).length === 1 &&
    eventsOf(atEnd, 'turn.started', id).length === 1
  );
}

function followersRanInOrder({ leader, followers, atEnd }: DemoRecord): boolean {
  const resolvedSeq = eventsOf(atEnd, 'turn.resolved', leader.admission_id)[0]?.seq ?? Infinity;
  const started = eventsOf(atEnd, 'turn.started').filter(({ seq }) => seq > resolvedSeq);
  const ended = eventsOf(atEnd, 'turn.settled').filter(({ seq }) => seq > resolvedSeq);
  const order = followers.map(({ admission_id }) => admission_id);
  return [started, ended].every((events) =>
    isDeepStrictEqual(
      events.map(({ admission_id }) => admission_id),
      order,
    ),
  );
}

function eachRanOnce(record: DemoRecord): boolean {
  return storiesOf(record).every(({ admissionId, runs }) => {
    const prompts = messagesOf(record.atEnd, admissionId).filter(({ kind }) => kind === 'prompt');
    const ends = [
      ...eventsOf(record.atEnd, 'turn.settled', admissionId),
      ...eventsOf(record.atEnd, 'turn.resolved', admissionId),
    ];
    return runs === 1 && prompts.length === 1 && ends.length === 1;
  });
}

function followersCompleted({ followers, atEnd }: DemoRecord): boolean {
  return followers.every(({ admission_id }) => {
    const answers = messagesOf(atEnd, admission_id).filter(({ kind }) => kind === 'answer');
    return receiptIn(atEnd, admission_id)?.outcome === 'completed' && answers.length === 1;
  });
}

/** By what their requests cost: less than the one that had to be compressed, and nothing was compressed since. */
function followersRanCompressed({ followers, beforeKill, atEnd }: DemoRecord): boolean {
  const compressions = eventsOf(atEnd, 'compression.completed');
  const before = compressions[0]?.payload.tokens_before ?? 0;
  return (
    compressions.length === 1 &&
    isDeepStrictEqual(compressions, eventsOf(beforeKill, 'compression.completed')) &&
    followers.every(({ admission_id }) => {
      const answer = messagesOf(atEnd, admission_id).find(({ kind }) => kind === 'answer');
      return (answer?.usage?.input_tokens ?? Infinity) < before;
    })
  );
}

function lineageIsKept({ beforeKill, afterRestart, atEnd }: DemoRecord): boolean {
  const sightings = [beforeKill, afterRestart, atEnd];
  const lineage = lineageOf(beforeKill);
  return (
    lineage.length === 2 &&
    sightings.every(
      (sighting) =>
        isDeepStrictEqual(lineageOf(sighting), lineage) &&
        sighting.session.stored_session_id === lineage.at(-1) &&
        sighting.session.transcripts === lineage.length,
    )
  );
}

function cleanStopChangedNothing({ gateways, afterDrain, atEnd }: DemoRecord): boolean {
  return (
    gateways[1]?.ended?.code === 0 &&
    isDeepStrictEqual(atEnd.events, afterDrain.events) &&
    isDeepStrictEqual(atEnd.prompts, afterDrain.prompts)
  );
}

function receiptIn({ prompts }: Sighting, admissionId: string): WireReceipt | undefined {
  return prompts.find(({ admission_id }) => admission_id === admissionId);
}

function messagesOf(sighting: Sighting, admissionId: string) {
  return eventsOf(sighting, 'message.appended', admissionId).map(({ payload }) => payload.message);
}
