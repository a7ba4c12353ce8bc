import fc from 'fast-check';
import { failureOf } from '../../../src/core/domain/model/failure.ts';
import type { FailureKind } from '../../../src/core/domain/model/failure.ts';
import type { Admission } from '../../../src/core/domain/admission/admission.ts';
import { canClaim, occupant, startedAdmission } from '../../../src/core/domain/session/state.ts';
import type { SessionChanges } from '../../../src/core/domain/session/update.ts';
import type { MessageDraft } from '../../../src/core/domain/transcript/message.ts';
import { openToolCalls } from '../../../src/core/domain/transcript/tool-pairs.ts';
import { anAnswer, aDraft, aPayload, aSummary, aToolCall, aToolResult, ownModel } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import type { LedgerHarness, OpenedLedger } from './harness.ts';

/** One step of a random history: which session, which of the moves that are legal there, and how. */
interface Choice {
  readonly session: number;
  readonly move: number;
  readonly size: number;
}

/** A history of so many steps. fast-check would draw short ones; a failing one is still shrunk to what it needs. */
export function randomChoices(steps: number): fc.Arbitrary<readonly Choice[]> {
  const choice = fc.record({ session: fc.nat(1), move: fc.nat(999), size: fc.nat(99) });
  return fc.array(choice, { minLength: 1, maxLength: steps, size: 'max' });
}

/** Two sessions, their owner, and the store that it writes: a history plays on it, owners come and go. */
export interface World {
  readonly harness: LedgerHarness;
  opened: OpenedLedger;
  owner: TestOwner;
  sessions: readonly TestSession[];
  /** Makes names that were not used before. */
  steps: number;
}

export async function newWorld(harness: LedgerHarness): Promise<World> {
  const owner = await TestOwner.takingOver(harness.ledger);
  const sessions = [await owner.create('session-0'), await owner.create('session-1')];
  return { harness, opened: harness, owner, sessions, steps: 0 };
}

/** Plays one step: a command that the decider accepts in the present state, or the loss of the owner. */
export async function play(world: World, { session: index, move, size }: Choice): Promise<void> {
  const session = world.sessions[index];
  if (session === undefined) return;
  world.steps += 1;
  const moves = legalMoves(world, session, size);
  await moves[move % moves.length]?.();
}

type Move = () => Promise<unknown>;

function legalMoves(world: World, session: TestSession, size: number): readonly Move[] {
  const turn = startedAdmission(session.state);
  const lost = occupant(session.state)?.status === 'unknown' ? occupant(session.state) : undefined;
  return [
    ...queueMoves(world, session, size),
    ...(turn === undefined ? [] : turnMoves(world, session, turn, size)),
    ...(turn?.stopRequested === null ? compressionMoves(world, session, size) : []),
    ...(lost === undefined ? [] : resolveMoves(world, session, lost)),
    ...(size < 20 ? [() => loseOwner(world, size < 5 ? 'discard' : 'hold')] : []),
  ];
}

function queueMoves({ steps }: World, session: TestSession, size: number): readonly Move[] {
  const { state } = session;
  const waiting = state.open.filter((admission) => admission.status === 'queued');
  const victim = waiting[size % Math.max(1, waiting.length)];
  const moves: Move[] = [
    () => session.submit(`input-${steps}`),
    () => session.submit(`input-${steps}`),
    () => session.run({ kind: 'release', by: 'somebody', until: null }),
    () => session.run({ kind: 'update', changes: changesOf(steps, size), revision: null, by: 'somebody' }),
  ];
  if (size < 20) {
    moves.push(() => session.run({ kind: 'hold', hold: { reason: 'random', until: null, by: 'somebody' } }));
  }
  if (victim !== undefined) {
    const key = { admissionId: victim.admissionId };
    const payload = aPayload({ text: `edited ${steps}` });
    const edit = { key, revision: victim.revision, payload, payloadDigest: `digest ${steps}`, known: undefined };
    const before = waiting[size % 7];
    const to = before === undefined || before === victim ? (size % 2 === 0 ? 'first' : 'last') : { before };
    if (victim.delivery === 'queue')
      moves.push(
        () => session.run({ kind: 'edit', ...edit }),
        () => session.run({ kind: 'move', key, revision: null, to, known: undefined }),
      );
    moves.push(() => session.run({ kind: 'cancel', key, revision: victim.revision, known: undefined }));
  }
  if (canClaim(state))
    moves.push(
      () => session.start({ text: `prompt ${steps}` }),
      () => session.start(null),
    );
  return moves;
}

function changesOf(steps: number, size: number): SessionChanges {
  if (size < 30) return { title: size < 15 ? null : `title ${steps}` };
  return { archived: size < 50, pinned: size % 2 === 0 };
}

function turnMoves({ steps }: World, session: TestSession, turn: Admission, size: number): readonly Move[] {
  const executionGeneration = turn.executionGeneration ?? 0;
  const stored = turn.promptMessageId !== null;
  const reasons: readonly FailureKind[] = ['context_exhausted', 'rate_limited', 'internal'];
  const failure = failureOf(reasons[size % 3] ?? 'internal', `failure ${steps}`, {
    providerStatus: size < 50 ? null : 429,
  });
  const usage = { inputTokens: size, outputTokens: null, totalTokens: null };
  const moves: Move[] = [];
  if (size % 4 === 0) {
    const partial = stored ? anAnswer({ text: `partial ${steps}` }) : null;
    moves.push(
      () => session.settle({ outcome: 'failed', answer: null, failure, usage }),
      () => session.settle({ outcome: 'interrupted', answer: partial }),
      () => session.run({ kind: 'interrupt', executionGeneration, by: `somebody-${size}` }),
    );
  }
  if (stored) {
    const answeredBy = size % 3 === 0 ? { provider: 'other', model: 'fallback', baseUrl: `b-${size}` } : ownModel;
    const answer = anAnswer({ admissionId: turn.admissionId, text: `answer ${steps}`, usage, answeredBy });
    moves.push(() => session.settle({ answer, contextTokens: size < 50 ? null : size, usage }));
  }
  const running = session.state.runningCalls[size % Math.max(1, session.state.runningCalls.length)];
  if (running !== undefined) {
    const result = (['answered', 'failed', 'broken'] as const)[size % 3] ?? 'answered';
    const end = () => session.finish(running.callId, { result, message: resultOf(running.callId, turn.admissionId) });
    moves.push(end, end);
  }
  if (turn.stopRequested === null) {
    moves.push(
      () => session.steer(`steer-${steps}`, size % 2 === 0 ? 'cancel' : 'queue'),
      () => session.mergeSteers(),
    );
  }
  const asked = session.state.approvals[size % Math.max(1, session.state.approvals.length)];
  if (asked !== undefined) {
    const { approvalId } = asked;
    moves.push(
      () => session.respond(approvalId, size % 2 === 0 ? 'approve' : 'deny'),
      () => session.run({ kind: 'expire_approval', approvalId }),
    );
  }
  if (turn.stopRequested !== null) return moves;
  if (!stored) {
    const prompt = aDraft({ admissionId: turn.admissionId, text: `prompt ${steps}` });
    moves.push(() => session.run({ kind: 'dispatch', executionGeneration, prompt }));
  } else {
    const open = openToolCalls(session.state.messages);
    const calls = Array.from({ length: 1 + (size % 3) }, (_, index) => aToolCall({ id: `call-${steps}-${index}` }));
    const { runningCalls } = session.state;
    const asking = anAnswer({ text: `step ${steps}`, toolCalls: calls });
    if (open.length === 0)
      moves.push(
        () => session.ask(asking),
        () => session.ask(asking),
        () => session.askFor(asking),
        () => session.say(asking),
      );
    else if (runningCalls.length === 0 && session.state.approvals.length === 0)
      moves.push(() => session.say(...open.map((id) => resultOf(id))));
  }
  return moves;
}

function resultOf(callId: string, admissionId = 'admission-1'): MessageDraft {
  return aToolResult(callId, { text: `result of ${callId}`, admissionId });
}

function compressionMoves({ steps }: World, session: TestSession, size: number): readonly Move[] {
  const { open } = session.state.lineage;
  if (open === null) return [() => session.startCompression(`compression-${steps}`)];
  const head = size % 3;
  const tail = 1 + (size % 4);
  const summary = aSummary({ text: `summary ${steps}` });
  const childTranscript = `${session.sessionId}-child-${steps}`;
  return [
    () => session.rotate({ head, tail, childTranscript }, { summary }),
    () => session.rotate({ head, tail, childTranscript: null }, { summary }),
    () =>
      session.run({
        kind: 'fail_compression',
        compressionId: open.compressionId,
        failure: failureOf('empty_reply', `failure ${steps}`),
        usage: null,
        opensBreaker: size < 50,
      }),
  ];
}

function resolveMoves({ steps }: World, session: TestSession, lost: Admission): readonly Move[] {
  return (['discard', 'retry'] as const).map(
    (action) => () =>
      session.run({
        kind: 'resolve_unknown',
        admissionId: lost.admissionId,
        executionGeneration: lost.executionGeneration ?? 0,
        action,
        by: 'operator',
        retryAdmissionId: `retry-${steps}`,
        known: undefined,
      }),
  );
}

/** The process dies; the next one takes over and recovers. It knows what was committed, and reads nothing to know it. */
async function loseOwner(world: World, onUnknown: 'hold' | 'discard'): Promise<void> {
  world.opened = await world.harness.reopen();
  const owner = await TestOwner.takingOver(world.opened.ledger, `instance-${world.steps}`);
  world.owner = owner;
  world.sessions = world.sessions.map((session) => session.passTo(owner));
  for (const session of world.sessions) await session.recover(onUnknown);
}
