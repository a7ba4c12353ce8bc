import type { Patch } from './planted/plant.ts';
/* Scratch: candidate fixes, so that the search goes on behind the faults that are known. */
export const fixes: readonly Patch[] = [
  { // F3 blank partial
    file: 'core/domain/turn/close-turn.ts',
    from: `end.partial === null ?`,
    to: `end.partial === null || end.partial.text.trim() === '' ?`,
  },
  { // F6 inconsistent snapshot
    file: 'core/use-cases/read-snapshot.ts',
    from: `      const unmoved = (await deps.sessions.state(sessionId))?.seq === state.seq;
      if (!unmoved && attempt < maxTries && !isOfState(state, page, pending)) continue;`,
    to: `      const unmoved = (await deps.queries.findSession(sessionId))?.lastSeq === state.seq;
      if (!unmoved && attempt < 1000) continue;`,
  },
  { // F8 created twice
    file: 'core/use-cases/create-session.ts',
    from: `    if (earlier !== null) return repeated(earlier, requestDigest);`,
    to: `    if (earlier !== null) { await sessions.send(earlier.sessionId, { kind: 'receipt', key: { admissionId: '' }, known: null }); return repeated(earlier, requestDigest); }`,
  },
  {
    file: 'core/use-cases/create-session.ts',
    from: `    return winner === null ? sent : repeated(winner, requestDigest);`,
    to: `    if (winner !== null) await sessions.send(winner.sessionId, { kind: 'receipt', key: { admissionId: '' }, known: null });
    return winner === null ? sent : repeated(winner, requestDigest);`,
  },
];
