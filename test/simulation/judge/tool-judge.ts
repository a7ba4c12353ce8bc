/* P4, P5 and P10 on what tools are asked to do. */
import { isOwner, logOf, turnKey } from './books.ts';
import type { Books } from './books.ts';
import type { AdmissionRow, EventRow, ProcessView } from './rows.ts';

/** A call that a process hands to its host. */
export interface JudgedCall {
  readonly process: ProcessView;
  readonly sessionId: string;
  readonly callId: string;
  /** The file that it is about. */
  readonly path: string;
  /** The turn that the process says it runs. */
  readonly turn: { readonly admissionId: string; readonly executionGeneration: number } | null;
}

export class ToolJudge {
  readonly #books: Books;
  /** How often each call was made. */
  readonly #made = new Map<string, number>();

  constructor(books: Books) {
    this.#books = books;
  }

  /** A call is made once for each intent in the log, and never before it is there. */
  called({ process, sessionId, callId, path, turn }: JudgedCall): void {
    const { verdict, store, stops } = this.#books;
    const generation = turn?.executionGeneration ?? 0;
    const key = `${turnKey(sessionId, generation)}/${callId}`;
    const made = (this.#made.get(key) ?? 0) + 1;
    this.#made.set(key, made);
    const intents = logOf(this.#books, sessionId).filter(
      (event) => isStart(event, callId) && event.executionGeneration === generation,
    ).length;
    verdict.hold(intents > 0, 'P4', () => `the call ${key} was made before its intent was durable`);
    verdict.hold(made <= intents, 'P4', () => `the call ${key} was made ${made} times for ${intents} intents`);
    this.#judgeApproval({ key, made, path }, { sessionId, callId, generation });
    if (!isOwner(this.#books, process)) return;
    const row = store.admissions(sessionId).get(turn?.admissionId ?? '');
    verdict.hold(row?.boundary === 'tool', 'P4', () => `the call ${key} was made at boundary ${row?.boundary}`);
    const stopped = stops.has(turnKey(sessionId, generation));
    verdict.hold(!stopped, 'P5', () => `the call ${key} was made after its stop was acknowledged`);
  }

  /** A call that has to wait is made once for each durable answer that allows it. */
  #judgeApproval(
    { key, made, path }: { readonly key: string; readonly made: number; readonly path: string },
    call: { readonly sessionId: string; readonly callId: string; readonly generation: number },
  ): void {
    const { verdict, limits } = this.#books;
    verdict.hold(limits.approvals !== 'never', 'P4', () => `the call ${key} was made, and none is allowed`);
    const waits = limits.approvals === 'all' || (limits.approvals === 'some' && path.startsWith('b'));
    if (!waits) return;
    const allowed = logOf(this.#books, call.sessionId).filter(({ type, callId, executionGeneration, decision }) => {
      const isOfCall = callId === call.callId && executionGeneration === call.generation;
      return type === 'approval.resolved' && decision === 'approved' && isOfCall;
    }).length;
    verdict.hold(made <= allowed, 'P4', () => `the call ${key} was made ${made} times for ${allowed} approvals`);
  }
}

/** The calls that a log leaves open, and what the evidence of a lost turn says of them. */
export function judgeOpenCalls(
  { verdict, openCalls }: Books,
  sessionId: string,
  events: readonly EventRow[],
  rows: ReadonlyMap<string, AdmissionRow>,
): void {
  const open = openCalls.get(sessionId) ?? new Set<string>();
  openCalls.set(sessionId, open);
  for (const { type, admissionId, callId = '' } of events) {
    if (type === 'tool.started') {
      verdict.hold(!open.has(callId), 'P4', () => `the call ${callId} was started while it ran`);
      open.add(callId);
    }
    if (type === 'tool.finished')
      verdict.hold(open.delete(callId), 'P5', () => `the call ${callId} ended and was not open`);
    if (type === 'turn.lost') {
      const named = new Set(rows.get(admissionId ?? '')?.evidence?.openToolCalls);
      const same = named.size === open.size && [...open].every((id) => named.has(id));
      verdict.hold(same, 'P5', () => `the evidence names ${[...named].join()} and open are ${[...open].join()}`);
    }
    if (type === 'turn.settled' || type === 'turn.resolved') open.clear();
  }
}

function isStart(event: EventRow, callId: string): boolean {
  return event.type === 'tool.started' && event.callId === callId;
}
