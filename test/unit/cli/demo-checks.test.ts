import { describe, expect, test } from 'vitest';
import { checksOf } from '../../../src/cli/demo/checks.ts';
import type { DemoRecord } from '../../../src/cli/demo/record.ts';
import { documentOf, tellReport } from '../../../src/cli/demo/report.ts';
import { lineageOf, type Sighting } from '../../../src/cli/demo/sighting.ts';
import { silentTeller } from '../../../src/cli/demo/teller.ts';
import type { DurableWireEvent } from '../../../src/protocol/events.ts';
import type { WireMessage } from '../../../src/protocol/message.ts';
import type { WireReceipt } from '../../../src/protocol/receipt.ts';
import { aMessage, aReceipt, aSnapshot, aSummary, completed, lost } from './wire-builders.ts';

describe('the checks of the demo', () => {
  test('hold for a run in which everything went as promised', () => {
    expect(broken(aRecord())).toEqual([]);
    expect(documentOf(aRecord(), checksOf(aRecord()))).toMatchObject({ ok: true });
  });

  test.each<[string, string, (record: DemoRecord) => DemoRecord]>([
    [
      'its admission and its place',
      'an admission id that changed',
      (r) => end(r, { prompts: renamed(r.atEnd.prompts) }),
    ],
    ['its admission and its place', 'a prompt that is gone', (r) => end(r, { prompts: r.atEnd.prompts.slice(0, -1) })],
    ['sent again were known', 'a repeat that was taken anew', (r) => ({ ...r, sentAgain: r.sentAgain.map(anew) })],
    ['heard before the kill', 'an event that was heard and is gone', (r) => found(r, r.afterRestart.events.slice(1))],
    ['heard before the kill', 'nothing that was heard', (r) => ({ ...r, heard: [] })],
    ['A preflight compressed', 'followers that came after the compression', (r) => before(r, followersLast)],
    ['never ran again', 'a lost turn that started again', (r) => log(r, started('leader'))],
    ['never ran again', 'a lost turn that is said to have completed', (r) => leaderAtEnd(r, completed)],
    ['never ran again', 'a process that ended in another way', (r) => ({ ...r, gateways: gateways('SIGTERM', 0) })],
    ['waited for the decision', 'followers in another order', (r) => end(r, { events: swapped(r.atEnd.events) })],
    ['waited for the decision', 'a follower that did not wait', (r) => end(r, { events: early(r.atEnd.events) })],
    ['ran once', 'a filler that started twice', (r) => log(r, started('filler'))],
    ['ran once', 'a prompt that is in the transcript twice', (r) => log(r, said('follower-2', { kind: 'prompt' }))],
    ['ran once', 'a turn that ended twice', (r) => log(r, settled('follower-1'))],
    ['completed, with one answer', 'a second answer', (r) => log(r, said('follower-1', { kind: 'answer' }))],
    ['on the compressed transcript', 'a second compression', (r) => log(r, compressed('t2', 't3'))],
    ['on the compressed transcript', 'requests as large as before', (r) => end(r, { events: large(r.atEnd.events) })],
    ['The lineage stayed the same', 'another tip', (r) => end(r, { session: aSession({ stored_session_id: 's1' }) })],
    ['A clean stop', 'an exit code that is not 0', (r) => ({ ...r, gateways: gateways('SIGKILL', 70) })],
    ['A clean stop', 'an event that came by itself', (r) => log(r, started('follower-3'))],
  ])('%s › fails over %s', (promise, _fault, breakIn) => {
    const failed = broken(breakIn(aRecord()));

    expect(failed).toEqual(expect.arrayContaining([expect.stringContaining(promise)]));
  });

  test('that fail are in the report and in the document', () => {
    const record = { ...aRecord(), heard: [] };
    const verdicts: boolean[] = [];

    tellReport(record, checksOf(record), { ...silentTeller, verdict: (holds) => verdicts.push(holds) });

    expect(verdicts.filter((holds) => !holds)).toHaveLength(1);
    expect(documentOf(record, checksOf(record))).toMatchObject({ ok: false });
  });
});

describe('a lineage', () => {
  test('is the one open transcript while nothing was compressed', () => {
    expect(lineageOf({ ...aSighting([]), session: aSession({ stored_session_id: 's1' }) })).toEqual(['s1']);
  });

  test('is the chain of all compressions', () => {
    expect(lineageOf(aSighting([compressed('s1', 't2'), compressed('t2', 't3')]))).toEqual(['s1', 't2', 't3']);
  });
});

function broken(record: DemoRecord): readonly string[] {
  return checksOf(record).flatMap(({ promise, holds }) => (holds ? [] : [promise]));
}

/* A run as it should be: one filler, the leader, three followers. */

const followers = ['follower-1', 'follower-2', 'follower-3'];

function aRecord(): DemoRecord {
  const filler = given('filler', 1);
  const leader = given('leader', 2);
  const followed = followers.map((name, index) => given(name, index + 3));
  const firstLog = numbered([
    queued('filler'),
    ...turn('filler'),
    queued('leader'),
    started('leader'),
    ...followers.map(queued),
    compressed('s1', 't2'),
    said('leader', { kind: 'prompt' }),
  ]);
  const secondLog = numbered([...firstLog, about('turn.lost', 'leader', { evidence: lost.evidence })]);
  const lastLog = numbered([...secondLog, about('turn.resolved', 'leader', {}), ...followers.flatMap(turn)]);
  const fillerNow = { ...filler, ...completed };
  const ended = [
    fillerNow,
    { ...leader, status: 'terminal', outcome: 'interrupted' } as const,
    ...followed.map((receipt) => ({ ...receipt, ...completed })),
  ];
  return {
    sessionId: 's1',
    gateways: gateways('SIGKILL', 0),
    fillers: [filler],
    leader,
    followers: followed,
    heard: firstLog,
    beforeKill: aSighting(firstLog, [fillerNow, { ...leader, status: 'started' }, ...followed]),
    afterRestart: aSighting(secondLog, [fillerNow, { ...leader, ...lost }, ...followed]),
    sentAgain: [leader, ...followed].map((receipt) => ({ ...receipt, duplicate: true })),
    afterDrain: aSighting(lastLog, ended),
    atEnd: aSighting(lastLog, ended),
  };
}

function gateways(firstSignal: string, secondCode: number): DemoRecord['gateways'] {
  return [
    { pid: 1, epoch: 1, instanceId: 'g1', ended: { code: null, signal: firstSignal } },
    { pid: 2, epoch: 2, instanceId: 'g2', ended: { code: secondCode, signal: null } },
    { pid: 3, epoch: 3, instanceId: 'g3', ended: null },
  ];
}

function given(name: string, sequence: number): WireReceipt {
  return aReceipt({ input_id: name, admission_id: idOf(name), sequence });
}

function aSighting(events: readonly DurableWireEvent[], prompts: readonly WireReceipt[] = []): Sighting {
  return { session: aSession(), prompts: prompts.map((receipt) => ({ ...receipt, text: 'A prompt.' })), events };
}

function aSession(fields: Partial<Sighting['session']> = {}): Sighting['session'] {
  const { hold, blocked_by, context } = aSnapshot();
  return { ...aSummary(), hold, blocked_by, context, ...fields };
}

function idOf(name: string): string {
  return `admission of ${name}`;
}

function turn(name: string): readonly DurableWireEvent[] {
  const usage = { input_tokens: 1_200, output_tokens: 5, total_tokens: 1_205 };
  return [started(name), said(name, { kind: 'prompt' }), said(name, { kind: 'answer', usage }), settled(name)];
}

const queued = (name: string) => about('admission.queued', name, { input_id: name, sequence: 1, position: 1 });
const started = (name: string) => about('turn.started', name, {});
const settled = (name: string) => about('turn.settled', name, { outcome: 'completed', hidden: [] });
const said = (name: string, fields: Partial<WireMessage>) =>
  about('message.appended', name, {
    message: aMessage({ admission_id: idOf(name), ...fields }),
    step: 1,
    boundary: null,
  });
const compressed = (parent_transcript: string, child_transcript: string) =>
  about('compression.completed', 'leader', {
    trigger: 'preflight',
    parent_transcript,
    child_transcript,
    tokens_before: 3_500,
    tokens_after: 1_200,
  });

function about(type: DurableWireEvent['type'], name: string, payload: object): DurableWireEvent {
  const header = { session_id: 's1', at: '2030-01-01T00:00:00.000Z', epoch: 1, seq: 1_000 };
  return { type, ...header, admission_id: idOf(name), payload } as DurableWireEvent; // what the checks read is there
}

function numbered(events: readonly DurableWireEvent[]): readonly DurableWireEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

/* Ways in which a run can be wrong. */

function end(record: DemoRecord, fields: Partial<Sighting>): DemoRecord {
  return { ...record, atEnd: { ...record.atEnd, ...fields } };
}

/** The log of the last process has one event more. */
function log(record: DemoRecord, event: DurableWireEvent): DemoRecord {
  return end(record, { events: [...record.atEnd.events, event] });
}

function found(record: DemoRecord, events: readonly DurableWireEvent[]): DemoRecord {
  return { ...record, afterRestart: { ...record.afterRestart, events } };
}

function before(
  record: DemoRecord,
  change: (events: readonly DurableWireEvent[]) => readonly DurableWireEvent[],
): DemoRecord {
  return { ...record, beforeKill: { ...record.beforeKill, events: change(record.beforeKill.events) } };
}

function leaderAtEnd(record: DemoRecord, fields: Partial<WireReceipt>): DemoRecord {
  const isLeader = ({ input_id }: WireReceipt): boolean => input_id === 'leader';
  return end(record, {
    prompts: record.atEnd.prompts.map((prompt) => (isLeader(prompt) ? { ...prompt, ...fields } : prompt)),
  });
}

function renamed<T extends WireReceipt>(prompts: readonly T[]): readonly T[] {
  return prompts.map((prompt) => (prompt.sequence === 4 ? { ...prompt, admission_id: 'another' } : prompt));
}

function anew(receipt: WireReceipt): WireReceipt {
  return { ...receipt, duplicate: false };
}

function isAbout(event: DurableWireEvent, names: readonly string[]): boolean {
  return names.map(idOf).some((id) => id === event.admission_id);
}

function followersLast(events: readonly DurableWireEvent[]): readonly DurableWireEvent[] {
  return numbered([
    ...events.filter((event) => !isAbout(event, followers)),
    ...events.filter((event) => isAbout(event, followers)),
  ]);
}

/** The second follower's turn comes before the first one's. */
function swapped(events: readonly DurableWireEvent[]): readonly DurableWireEvent[] {
  const [first, second] = [turn('follower-1'), turn('follower-2')];
  return numbered([...events.slice(0, -12), ...second, ...first, ...events.slice(-4)]);
}

/** The first follower starts before the lost turn is resolved. */
function early(events: readonly DurableWireEvent[]): readonly DurableWireEvent[] {
  const starts = (event: DurableWireEvent): boolean => event.type === 'turn.started' && isAbout(event, ['follower-1']);
  const resolved = events.findIndex(({ type }) => type === 'turn.resolved');
  const rest = events.slice(resolved).filter((event) => !starts(event));
  return numbered([...events.slice(0, resolved), started('follower-1'), ...rest]);
}

function large(events: readonly DurableWireEvent[]): readonly DurableWireEvent[] {
  const usage = { input_tokens: 3_600, output_tokens: 5, total_tokens: 3_605 };
  return events.map((event) =>
    event.type === 'message.appended' && event.payload.message.kind === 'answer'
      ? { ...event, payload: { ...event.payload, message: { ...event.payload.message, usage } } }
      : event,
  );
}
