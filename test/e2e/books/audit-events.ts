import type { BookedSession } from './books.ts';
import type { EventRow, Rows } from './rows.ts';

/** The log is gapless, tells each admission's life as it may be, and is what the subscriber was sent. */
export function auditEvents(session: BookedSession, rows: Rows): readonly string[] {
  const log = rows.events.filter(({ session_id }) => session_id === session.id);
  const findings: string[] = [];
  if (log.at(-1)?.type === 'session.deleted') {
    return log.length === 1 ? [] : [`the deleted ${session.name} has ${String(log.length)} events left`];
  }
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0) findings.push(`the log of ${session.name} has a gap at ${String(gap + 1)}`);
  for (const heard of session.events) {
    const stored = log[heard.seq - 1];
    if (stored?.type !== heard.type || stored.admission_id !== heard.admission_id) {
      findings.push(
        `${session.name} sent event ${String(heard.seq)} ${heard.type}, and the log has ${String(stored?.type)}`,
      );
    }
  }
  return [...findings, ...auditLives(session.name, log)];
}

type Life = 'none' | 'queued' | 'started' | 'stopping' | 'lost' | 'ended';

/** Which events may follow in an admission's life, and what it is after each. */
const steps: Readonly<Record<string, { readonly from: readonly Life[]; readonly to: Life }>> = {
  'admission.queued': { from: ['none'], to: 'queued' },
  'admission.cancelled': { from: ['queued'], to: 'ended' },
  'admission.merged': { from: ['queued'], to: 'ended' },
  'admission.requeued': { from: ['started'], to: 'queued' },
  'turn.started': { from: ['queued'], to: 'started' },
  'turn.stop_requested': { from: ['started'], to: 'stopping' },
  'turn.settled': { from: ['started', 'stopping'], to: 'ended' },
  'turn.lost': { from: ['started'], to: 'lost' },
  'turn.resolved': { from: ['lost'], to: 'ended' },
};

function auditLives(name: string, log: readonly EventRow[]): readonly string[] {
  const findings: string[] = [];
  const lives = new Map<string, Life>();
  let occupant: string | null = null;
  for (const { seq, type, admission_id } of log) {
    const step = steps[type];
    if (step === undefined || admission_id === null) continue;
    const life = lives.get(admission_id) ?? 'none';
    if (!step.from.includes(life))
      findings.push(`${name}: event ${String(seq)} ${type} of an admission that is ${life}`);
    if (type === 'turn.started' && occupant !== null)
      findings.push(`${name}: event ${String(seq)} starts a second turn`);
    lives.set(admission_id, step.to);
    if (type === 'turn.started') occupant = admission_id;
    else if (occupant === admission_id && (step.to === 'ended' || step.to === 'queued')) occupant = null;
  }
  return findings;
}
