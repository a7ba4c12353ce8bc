import type { AppendRequest, Ledger } from '../../../src/core/ports/ledger.ts';
import { anAdmission, anEvent, aPayload, aProfile } from '../../support/builders.ts';

/* Appends made by hand, for tests that are about the storage and not about the decider. */

export async function ownerOf(ledger: Ledger): Promise<number> {
  return (await ledger.takeOwnership({ instanceId: 'instance-1', now: '2030-01-01T00:00:00.000Z' })).epoch;
}

/** Creates a session. */
export function creation(sessionId: string, epoch: number): AppendRequest {
  const created = anEvent(
    { type: 'session.created', profile: aProfile({ requestId: sessionId }) },
    { sessionId, epoch },
  );
  return { sessionId, expectedSeq: 0, epoch, events: [created] };
}

/** The first prompt of a session that has been created: `seq` numbers it in the store. */
export function firstPrompt(sessionId: string, epoch: number, seq: number, text = 'Hello'): AppendRequest {
  const admission = anAdmission({ seq, sessionId });
  const payload = aPayload({ text });
  const queued = anEvent({ type: 'admission.queued', admission, payload }, { sessionId, epoch, seq: 2 });
  return { sessionId, expectedSeq: 1, epoch, events: [queued] };
}
