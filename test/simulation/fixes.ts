import type { Patch } from './planted/plant.ts';
/* Scratch: candidate fixes, so that the search goes on behind the faults that are known. */
export const fixes: readonly Patch[] = [
  { // F1 lost wake-up
    file: 'core/use-cases/session-actor.ts',
    from: `    this.#work().then(
      () => {
        this.#pumping = false;
      },`,
    to: `    this.#work().then(
      () => undefined,`,
  },
  {
    file: 'core/use-cases/session-actor.ts',
    from: `        await this.#storageFailed(error, batch);
      }
    }
  }`,
    to: `        await this.#storageFailed(error, batch);
      }
    }
    this.#pumping = this.#halted;
  }`,
  },
  { // F2 stale known within a batch
    file: 'core/use-cases/session-actor.ts',
    from: `      decisions.push(decision);
      if (decision.kind === 'needs_known') keys.push(decision.key);
      if (decision.kind !== 'accepted') continue;`,
    to: `      if (decision.kind === 'needs_known') {
        if (decisions.length === 0) keys.push(decision.key);
        break;
      }
      decisions.push(decision);
      if (decision.kind !== 'accepted') continue;`,
  },
  {
    file: 'core/use-cases/session-actor.ts',
    from: `waiting.answer(sentOf(plan.decisions[index]));
      }`,
    to: `if (index < plan.decisions.length) waiting.answer(sentOf(plan.decisions[index]));
        this.#mailbox.unshift(...batch.slice(plan.decisions.length));
      }`,
  },
  { // F9 submit, cancel, submit
    file: 'core/use-cases/session-actor.ts',
    from: `    for (const { command } of batch) {
      const decision`,
    to: `    for (const { command } of batch) {
      if (command.kind === 'submit' && events.some((event) => event.type === 'admission.queued' && event.admission.inputId === command.inputId && event.admission.principalId === command.principalId) && !state?.open.some((open) => open.inputId === command.inputId && open.principalId === command.principalId)) break;
      const decision`,
  },
  { // F3 blank partial
    file: 'core/domain/turn/close-turn.ts',
    from: `end.partial === null ?`,
    to: `end.partial === null || end.partial.text.trim() === '' ?`,
  },
  { // F4 stacked summaries
    file: 'core/domain/compression/plan.ts',
    from: `    if (messages > n) break;`,
    to: `    if (messages > n || group[0]?.kind === 'summary') break;`,
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
