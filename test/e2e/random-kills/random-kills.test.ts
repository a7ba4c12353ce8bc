import { beforeAll, describe, expect, it } from 'vitest';
import { audit, auditAtRest } from '../books/audit.ts';
import type { Audited } from '../books/audit.ts';
import { runCampaign } from './campaign.ts';
import type { Summary } from './campaign.ts';

/*
 * Twenty kills at random instants under load. `npx tsx test/e2e/random-kills/main.ts --kills 500` makes more of them.
 */

let summary: Summary;

beforeAll(async () => {
  summary = await runCampaign({ kills: 20, seed: Date.now() % 1_000_000, sessions: 4, sockets: 4, auditEvery: 1 });
}, 300_000);

describe('a daemon that is killed twenty times while clients work with it', () => {
  it('breaks no promise', () => {
    expect(summary.findings).toEqual([]);
  });

  it('had something to lose', () => {
    expect(summary.rows.admissions.length).toBeGreaterThan(20);
    expect(summary.witness.requests.length).toBeGreaterThan(10);
  });
});

/** What the audit must not overlook: each is a lie about one thing that the campaign has left. */
const lies: readonly (readonly [name: string, lie: (audited: Audited) => Audited, finding: RegExp])[] = [
  [
    'a lost admission',
    ({ rows, ...rest }) => ({ ...rest, rows: { ...rows, admissions: rows.admissions.slice(1) } }),
    /is lost/,
  ],
  [
    'an admission that nobody asked for',
    ({ rows, ...rest }) => ({
      ...rest,
      rows: {
        ...rows,
        admissions: rows.admissions.map((row, index) => (index === 0 ? { ...row, request_id: 'stray' } : row)),
      },
    }),
    /nobody asked for/,
  ],
  [
    'an outcome that flips',
    ({ rows, ...rest }) => ({
      ...rest,
      rows: {
        ...rows,
        admissions: rows.admissions.map((row) => (row.outcome === 'completed' ? { ...row, outcome: 'failed' } : row)),
      },
    }),
    /was told to be completed and is failed/,
  ],
  [
    'a request that is sent twice',
    ({ witness, ...rest }) => ({
      ...rest,
      witness: { ...witness, requests: [...witness.requests, ...witness.requests.slice(-1)] },
    }),
    /was sent \d+ times/,
  ],
  [
    'requests in another order',
    ({ witness, ...rest }) => ({ ...rest, witness: { ...witness, requests: witness.requests.toReversed() } }),
    /ran out of order/,
  ],
  [
    'a missing event',
    ({ rows, ...rest }) => ({ ...rest, rows: { ...rows, events: rows.events.filter(({ seq }) => seq !== 2) } }),
    /has a gap at 2/,
  ],
  [
    'a turn that starts beside another',
    ({ rows, ...rest }) => ({
      ...rest,
      rows: {
        ...rows,
        events: rows.events.map((event) => (event.type === 'turn.settled' ? { ...event, type: 'turn.told' } : event)),
      },
    }),
    /starts a second turn/,
  ],
  [
    'an answer that is not what the model said',
    ({ rows, ...rest }) => ({
      ...rest,
      rows: {
        ...rows,
        messages: rows.messages.map((row) => (row.kind === 'answer' ? { ...row, content: 'something else' } : row)),
      },
    }),
    /is not what the model said/,
  ],
  [
    'a closed tip',
    ({ rows, ...rest }) => ({
      ...rest,
      rows: { ...rows, sessions: rows.sessions.map((row) => ({ ...row, ended_at: 'now', end_reason: 'compression' })) },
    }),
    /the lineage of \w+ is broken/,
  ],
];

describe('the audit notices', () => {
  it.each(lies)('%s', (_, lie, finding) => {
    const { books, rows, witness } = summary;
    const lied = lie({ books, rows, witness: { requests: witness.requests, faults: witness.faults } });
    expect(auditAtRest(lied)).toContainEqual(expect.stringMatching(finding) as string);
  });

  it('nothing in what is sound', () => {
    expect(audit(summary)).toEqual([]);
  });
});
