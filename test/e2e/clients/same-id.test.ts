import { describe, expect, it } from 'vitest';
import type { RawClient, RpcAnswer } from '../../support/raw-client.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, submit } from '../stage.ts';
import type { Receipt } from '../stage.ts';

const rounds = Array.from({ length: 50 }, (_, round) => `round ${String(round)}`);

describe('the same input id from two sockets at once', () => {
  it('gives one admission, fifty times over', async () => {
    const { home, first, second, session } = await heldSession();
    for (const round of rounds) {
      const [a, b] = await Promise.all([submit(first, session, round), submit(second, session, round)]);
      expect(a.admission_id).toBe(b.admission_id);
      expect(a.sequence).toBe(b.sequence);
      expect([a.duplicate, b.duplicate].sort()).toEqual([false, true]);
    }
    const rows = readStore(home).admissions;
    expect(rows.map(({ request_id }) => request_id)).toEqual(rounds);
  });

  it('with two texts accepts one of them, and the conflict carries its receipt, fifty times over', async () => {
    const { home, first, second, session } = await heldSession();
    const accepted: string[] = [];
    for (const round of rounds) {
      const ask = (client: RawClient, text: string): Promise<RpcAnswer> =>
        client.request('prompt.submit', { session_id: session, input_id: round, text });
      const answers = await Promise.all([ask(first, 'one text'), ask(second, 'another')]);
      const [winner] = answers.filter(({ result }) => result !== undefined);
      const [loser] = answers.filter(({ error }) => error !== undefined);
      const receipt = winner?.result as Receipt; // one of the two was accepted, or what follows fails
      expect(loser?.error?.data).toMatchObject({
        reason: 'admission_conflict',
        retryable: false,
        receipt: { admission_id: receipt.admission_id, sequence: receipt.sequence, status: 'queued' },
      });
      accepted.push(receipt.admission_id);
    }
    expect(readStore(home).admissions.map(({ admission_id }) => admission_id)).toEqual(accepted);
  });

  it('is one session, when what they make is a session', async () => {
    const { first, second } = await heldSession();
    for (const request_id of rounds.slice(0, 10)) {
      const create = { request_id, source: 'test' };
      const made = await Promise.all(
        [first, second].map((client) =>
          client.call<{ session_id: string; created: boolean }>('session.create', create),
        ),
      );
      expect(made[0]?.session_id).toBe(made[1]?.session_id);
      expect(made.map(({ created }) => created).sort()).toEqual([false, true]);
    }
  });
});

interface HeldSession {
  readonly home: Parameters<typeof readStore>[0];
  readonly first: RawClient;
  readonly second: RawClient;
  readonly session: string;
}

/** Two clients of a session in which nothing starts. */
async function heldSession(): Promise<HeldSession> {
  const stage = await Stage.begin();
  const home = stage.home();
  await stage.start(home);
  const first = await stage.connect(home);
  const second = await stage.connect(home);
  const session = await createSession(first);
  await first.call('session.hold', { session_id: session });
  return { home, first, second, session };
}
