/* P2 to P5 and P13 on the rows of admissions: what one append may do to them. */
import { activeMessages, isRetry, logOf, outages } from './books.ts';
import type { Books } from './books.ts';
import type { AdmissionRow, EventRow, SessionRow } from './rows.ts';

export interface RowChange {
  readonly sessionId: string;
  readonly before: SessionRow | null;
  readonly after: SessionRow;
  readonly admissionsBefore: ReadonlyMap<string, AdmissionRow>;
  readonly admissionsAfter: ReadonlyMap<string, AdmissionRow>;
  readonly events: readonly EventRow[];
}

export function judgeAdmissions(books: Books, change: RowChange): void {
  const { admissionsBefore, admissionsAfter, sessionId } = change;
  const { verdict } = books;
  for (const admissionId of admissionsBefore.keys()) {
    verdict.hold(admissionsAfter.has(admissionId), 'P1', () => `admission ${admissionId} has vanished`);
  }
  let changed = false;
  for (const row of admissionsAfter.values()) {
    const earlier = admissionsBefore.get(row.admissionId);
    if (earlier === row) continue;
    changed = true;
    if (earlier === undefined) judgeNew(books, change, row);
    else judgeChange(books, change, earlier, row);
  }
  if (!changed) return;
  const occupants = [...admissionsAfter.values()].filter(({ status }) => status === 'started' || status === 'unknown');
  verdict.hold(occupants.length <= 1, 'P3', () => `two turns of ${sessionId} at once: ${namesOf(occupants)}`);
  judgeQueue(books, change);
}

function judgeNew(books: Books, change: RowChange, row: AdmissionRow): void {
  const { verdict } = books;
  const twin = [...change.admissionsAfter.values()].find(
    (other) => other !== row && other.inputId === row.inputId && other.principalId === row.principalId,
  );
  verdict.hold(twin === undefined, 'P2', () => `two admissions for ${row.inputId}: ${row.admissionId} and its twin`);
  const isFresh = row.status === 'queued' && row.outcome === null;
  const isWithdrawn = row.status === 'terminal' && row.outcome === 'cancelled';
  verdict.hold(isFresh || isWithdrawn, 'P3', () => `a new admission is ${row.status}: ${row.admissionId}`);
  for (const other of change.admissionsBefore.values()) {
    verdict.hold(other.seq < row.seq, 'P2', () => `${row.admissionId} has the used sequence number ${row.seq}`);
  }
  if (isRetry(row)) judgeRetry(books, change, row);
}

function judgeRetry(books: Books, change: RowChange, row: AdmissionRow): void {
  const { verdict } = books;
  const origin = [...change.admissionsAfter.values()].find((other) => other.retriedBy === row.admissionId);
  if (!verdict.hold(origin !== undefined, 'P4', () => `${row.inputId} retries nothing`) || origin === undefined) return;
  const isNamed = nextRetryOf(origin.inputId) === row.inputId;
  verdict.hold(isNamed, 'P2', () => `the retry of ${origin.inputId} is called ${row.inputId}`);
}

function nextRetryOf(inputId: string): string {
  const [base, count] = inputId.split('~');
  return `${base}~${Number(count ?? 0) + 1}`;
}

function judgeQueue(books: Books, { admissionsBefore, admissionsAfter }: RowChange): void {
  const fresh = [...admissionsAfter.values()].filter((row) => !admissionsBefore.has(row.admissionId));
  if (!fresh.some((row) => !isRetry(row))) return;
  const queued = [...admissionsAfter.values()].filter((row) => row.status === 'queued');
  const exempt = fresh.filter(isRetry).length;
  const { maxQueuedPerSession } = books.limits;
  books.verdict.hold(queued.length - exempt <= maxQueuedPerSession, 'P13', () => `${queued.length} prompts are queued`);
}

const identity = [
  'seq',
  'admissionId',
  'inputId',
  'sessionId',
  'principalId',
  'requestDigest',
] as const satisfies readonly (keyof AdmissionRow)[];

function judgeChange(books: Books, change: RowChange, from: AdmissionRow, to: AdmissionRow): void {
  const { verdict } = books;
  for (const field of identity) {
    verdict.hold(from[field] === to[field], 'P2', () => `${field} of ${from.admissionId} has changed`);
  }
  for (const [field, type] of [
    ['position', 'admission.moved'],
    ['payloadDigest', 'admission.edited'],
  ] as const) {
    const isTold = change.events.some((event) => event.type === type && event.admissionId === from.admissionId);
    const isKept = isTold || from[field] === to[field];
    verdict.hold(isKept, 'P2', () => `${field} of ${from.admissionId} has changed without ${type}`);
  }
  const judgeArrow = arrows[`${from.status}→${to.status}`];
  if (judgeArrow === undefined) verdict.breach('P5', `${nameOf(from)} became ${to.status}`);
  else judgeArrow(books, change, from, to);
}

type JudgeArrow = (books: Books, change: RowChange, from: AdmissionRow, to: AdmissionRow) => void;

const unchanged: JudgeArrow = ({ verdict }, _change, from, to) => {
  verdict.hold(sameRow(from, to), 'P5', () => `${nameOf(from)} was changed: ${difference(from, to)}`);
};

/** Edits and moves change these; what they may do is judged event by event. */
const unchangedButForItsPlace: JudgeArrow = (books, change, from, to) => {
  const { position, payloadDigest, revision } = to;
  unchanged(books, change, { ...from, position, payloadDigest, revision }, to);
};

const arrows: Readonly<Record<string, JudgeArrow>> = {
  'terminal→terminal': unchanged,
  'queued→queued': (books, change, from, to) => {
    const { verdict } = books;
    const { delivery } = to;
    const isOver = from.delivery === 'steer' && from.steers?.ifOver === 'queue' && delivery === 'queue';
    unchangedButForItsPlace(books, change, isOver ? { ...from, delivery } : from, to);
    if (!isOver) return;
    verdict.hold(!runsSteered(change, to), 'P5', () => `${nameOf(from)} left its turn, which runs`);
  },
  'unknown→unknown': unchangedButForItsPlace,
  'queued→started': judgeStart,
  'queued→terminal': (books, change, from, to) => {
    const { verdict } = books;
    if (from.delivery === 'steer' && to.outcome === 'completed') {
      judgeMerge(books, change, to);
      return;
    }
    if (to.failure !== null) {
      const isRight = to.failure.reason === 'turn_over' && from.steers?.ifOver === 'cancel';
      verdict.hold(isRight, 'P5', () => `${nameOf(from)} was cancelled as ${to.failure?.reason}`);
      verdict.hold(!runsSteered(change, to), 'P5', () => `${nameOf(from)} was given up, and its turn runs`);
    }
    verdict.hold(to.outcome === 'cancelled', 'P5', () => `${nameOf(from)} ended as ${to.outcome} without a start`);
  },
  'started→started': ({ verdict }, _change, from, to) => {
    const order = ['none', 'model', 'tool'];
    verdict.hold(
      from.executionGeneration === to.executionGeneration && from.ownerEpoch === to.ownerEpoch,
      'P4',
      () => `${nameOf(from)} runs under another generation`,
    );
    verdict.hold(order.indexOf(from.boundary) <= order.indexOf(to.boundary), 'P4', () => `${nameOf(from)} went back`);
    verdict.hold(
      from.stopRequested === null || to.stopRequested !== null,
      'P5',
      () => `the stop of ${nameOf(from)} was forgotten`,
    );
  },
  'started→queued': (books, _change, from, to) => {
    const { verdict, limits } = books;
    verdict.hold(from.boundary === 'none', 'P4', () => `${nameOf(from)} was requeued beyond ${from.boundary}`);
    verdict.hold(from.stopRequested === null, 'P5', () => `${nameOf(from)} was requeued although it was to stop`);
    verdict.hold(isOfLostOwner(books, from), 'P4', () => `${nameOf(from)} was requeued while its owner lives`);
    verdict.hold(
      to.requeueCount === from.requeueCount + 1 && to.requeueCount < limits.maxLostStarts,
      'P13',
      () => `${nameOf(from)} was requeued ${to.requeueCount} times`,
    );
  },
  'started→unknown': (books, _change, from, to) => {
    const { verdict } = books;
    verdict.hold(isOfLostOwner(books, from), 'P4', () => `${nameOf(from)} was given up while its owner lives`);
    verdict.hold(from.boundary !== 'none', 'P4', () => `${nameOf(from)} became unknown although nothing was sent`);
    verdict.hold(from.stopRequested === null, 'P5', () => `${nameOf(from)} became unknown although it was to stop`);
    verdict.hold(to.evidence?.boundary === from.boundary, 'P4', () => `${nameOf(from)} has no evidence`);
  },
  'started→terminal': judgeEnd,
  'unknown→terminal': ({ verdict }, change, from, to) => {
    const { resolution, outcome } = to;
    verdict.hold(
      outcome === 'interrupted' && resolution !== null,
      'P4',
      () => `${nameOf(from)} ended as ${outcome} without being resolved`,
    );
    if (resolution?.action !== 'retry') return;
    const retry = change.admissionsAfter.get(to.retriedBy ?? '');
    verdict.hold(retry !== undefined, 'P4', () => `${nameOf(from)} was to be retried, but nothing was queued`);
  },
};

/** Whether the turn that a steer is meant for runs after the change. */
function runsSteered({ admissionsAfter }: RowChange, { steers }: AdmissionRow): boolean {
  return [...admissionsAfter.values()].some(
    ({ status, executionGeneration }) => status === 'started' && executionGeneration === steers?.generation,
  );
}

/** The text of a steer is in the transcript once, in the turn that it was meant for. */
function judgeMerge({ verdict, store }: Books, { after, admissionsAfter }: RowChange, row: AdmissionRow): void {
  const turn = admissionsAfter.get(row.mergedInto ?? '');
  verdict.hold(
    turn?.executionGeneration === row.steers?.generation,
    'P4',
    () => `${nameOf(row)} was merged into ${nameOf(turn)}`,
  );
  if (after.deleted) return;
  const stored = store.messages(after.tipId).get(row.promptMessageId ?? 0);
  const isItsText = stored?.active === true && stored.message.text === store.prompt(row.admissionId);
  verdict.hold(isItsText, 'P5', () => `${nameOf(row)} was merged and its text is not in the turn`);
  const others = [...admissionsAfter.values()].filter((other) => other.promptMessageId === row.promptMessageId);
  verdict.hold(others.length === 1, 'P5', () => `message ${row.promptMessageId} stands for ${namesOf(others)}`);
  const steers = [...store.messages(after.tipId).values()].filter(
    ({ active, message }) => active && message.kind === 'steer' && message.originId === message.id,
  );
  const known = [...admissionsAfter.values()].filter(({ mergedInto }) => mergedInto !== null);
  verdict.hold(steers.length <= known.length, 'P5', () => `${steers.length} steers are in the transcript`);
}

function judgeStart(books: Books, change: RowChange, from: AdmissionRow, to: AdmissionRow): void {
  const { verdict, store, limits } = books;
  const { before, after } = change;
  verdict.hold(to.ownerEpoch === store.epoch(), 'P11', () => `${nameOf(from)} was started by a superseded owner`);
  const isByHand = ({ type, trigger }: EventRow): boolean => type === 'compression.started' && trigger === 'manual';
  const generation = (before?.executionGeneration ?? 0) + change.events.filter(isByHand).length + 1;
  verdict.hold(
    to.executionGeneration === generation && after.executionGeneration === generation,
    'P4',
    () => `${nameOf(from)} started under generation ${to.executionGeneration} instead of ${generation}`,
  );
  verdict.hold(to.requeueCount === from.requeueCount, 'P4', () => `${nameOf(from)} lost its count of starts`);
  let running = 0;
  for (const sessionId of store.sessionIds()) {
    for (const row of store.admissions(sessionId).values()) {
      if (row.status === 'started' && row.ownerEpoch === store.epoch()) running += 1;
    }
  }
  verdict.hold(running <= limits.maxConcurrentTurns, 'P13', () => `${running} turns run at once`);
}

function judgeEnd(books: Books, change: RowChange, from: AdmissionRow, to: AdmissionRow): void {
  const { verdict, limits } = books;
  const { outcome, failure, resolution } = to;
  const lost = isOfLostOwner(books, from);
  const stopped = to.stopRequested !== null;
  switch (outcome) {
    case 'completed':
      verdict.hold(!stopped, 'P5', () => `${nameOf(from)} was asked to stop and completed`);
      verdict.hold(!lost, 'P5', () => `${nameOf(from)} was completed by an owner that did not run it`);
      judgeAnswer(books, change, to);
      return;
    case 'interrupted': {
      const byPolicy =
        resolution?.by === 'policy' && limits.onUnknown === 'discard' && lost && from.boundary !== 'none';
      verdict.hold(stopped || byPolicy, 'P5', () => `${nameOf(from)} was interrupted although nobody asked for it`);
      return;
    }
    case 'failed':
      verdict.hold(!stopped, 'P5', () => `${nameOf(from)} was asked to stop and failed (${failure?.reason})`);
      judgeFailure(books, change, from, to);
      return;
    case null:
    default:
      verdict.breach('P5', `${nameOf(from)} ended as ${outcome}`);
  }
}

/** The answer that is stored is the one that the server finished. */
function judgeAnswer({ verdict, store, turnRequests }: Books, change: RowChange, row: AdmissionRow): void {
  const last = turnRequests.get(row.admissionId)?.at(-1);
  const finished = last?.end?.kind === 'finished' && last.end.toolCalls === 0;
  verdict.hold(finished, 'P5', () => `${nameOf(row)} completed without an answer of the model`);
  const text = last?.said.join('') ?? '';
  const written = change.events.map(({ message }) => message?.text);
  const stored = [...store.messages(change.after.tipId).values()].some(
    ({ active, message }) =>
      active &&
      message.admissionId === row.admissionId &&
      message.role === 'assistant' &&
      !message.partial &&
      message.text === text,
  );
  // What ends a turn and deletes its session may come in one append.
  const isKept = change.after.deleted ? written.includes(text) : stored;
  verdict.hold(isKept, 'P5', () => `${nameOf(row)} completed but its answer is not stored`);
}

/** What the gateway may find out by itself. Every other reason must have come from the server. */
const ownReasons = new Set([
  'context_exhausted',
  'compression_failed',
  'max_steps',
  'empty_reply',
  'cut_off',
  'internal',
]);

function judgeFailure(books: Books, change: RowChange, from: AdmissionRow, to: AdmissionRow): void {
  const { verdict, limits, turnRequests } = books;
  const lost = isOfLostOwner(books, from);
  const reason = to.failure?.reason ?? 'no reason';
  if (reason === 'crash_loop') {
    const spent = from.boundary === 'none' && from.requeueCount + 1 >= limits.maxLostStarts;
    verdict.hold(lost && spent, 'P13', () => `${nameOf(from)} failed as crash_loop too early`);
    return;
  }
  verdict.hold(!lost, 'P4', () => `${nameOf(from)} was failed by an owner that did not run it: ${reason}`);
  const end = turnRequests.get(to.admissionId)?.at(-1)?.end;
  const told = end?.kind === 'failed' && end.reason === reason;
  const unsummarised = !told && saidOfSummaries(books, change.sessionId).has(reason);
  verdict.hold(
    told || unsummarised || ownReasons.has(reason),
    'P5',
    () => `${nameOf(from)} failed as ${reason}, which never happened`,
  );
  if (reason === 'internal') {
    verdict.hold(end?.kind === 'failed' && end.reason === 'threw', 'bug', () => `${nameOf(from)} failed as internal`);
  }
  const needsRoom = reason === 'context_exhausted' || reason === 'compression_failed' || unsummarised;
  if (needsRoom && !change.after.deleted) {
    const refused = end?.kind === 'failed' && end.reason === 'context_overflow';
    const tooLarge = largestSize(books, change, to) > knownWindow(books, change);
    verdict.hold(refused || tooLarge, 'P9', () => `${nameOf(from)} fits the window and failed as ${reason}`);
  }
  if (reason === 'context_exhausted') {
    const outage = outageOfSummary(books, change.sessionId, to);
    verdict.hold(outage === null, 'P6', () => `${nameOf(from)} is burnt: its summary failed as ${outage}`);
  }
  if (reason === 'empty_reply' || reason === 'max_steps') {
    verdict.hold(end?.kind === 'finished', 'P5', () => `${nameOf(from)} failed as ${reason}, which never happened`);
  }
}

/** What the models have said that were asked for summaries. At the deadline one is given up, sent or not. */
function saidOfSummaries(books: Books, sessionId: string): ReadonlySet<string> {
  const exchanges = ['', sessionId].flatMap((id) => books.summaryRequests.get(id) ?? []);
  const said = exchanges.flatMap(({ end }) => (end?.kind === 'failed' ? [end.reason] : []));
  const gaveUp = logOf(books, sessionId).some(({ type }) => type === 'compression.failed');
  return new Set(gaveUp ? [...said, 'stalled'] : said);
}

/** Why the summary failed that was the last thing that the turn asked for, where that says nothing of its prompt. */
function outageOfSummary(books: Books, sessionId: string, row: AdmissionRow): string | null {
  const last = books.summaryRequests.get(sessionId)?.at(-1);
  const newestRequest = books.turnRequests.get(row.admissionId)?.at(-1)?.number ?? 0;
  if (last?.turn?.executionGeneration !== row.executionGeneration || last.number < newestRequest) return null;
  return last.end?.kind === 'failed' && outages.has(last.end.reason) ? last.end.reason : null;
}

/** The smallest window that anybody has stated for the models that the session may have had. */
function knownWindow({ limits, statedWindows }: Books, { after }: RowChange): number {
  const configured = limits.windowIsKnown ? Math.min(limits.windowTokens, limits.smallWindowTokens) : Infinity;
  return Math.min(configured, statedWindows.get(after.model) ?? Infinity);
}

/** Tokens of the gateway's own that no row shows: the system prompt, and what surrounds a pending prompt. */
const hiddenTokens = 20;

/** The most that the turn's next request could be taken for. */
function largestSize({ store, reported, limits }: Books, { sessionId, after }: RowChange, row: AdmissionRow): number {
  const local = activeMessages(store, after.tipId).reduce((sum, message) => sum + message.tokens, hiddenTokens);
  const pending = row.promptMessageId === null ? Math.ceil((store.prompt(row.admissionId) ?? '').length / 4) : 0;
  const exhaustedPrompt =
    row.promptMessageId === null ? 0 : (store.messages(after.tipId).get(row.promptMessageId)?.message.tokens ?? 0);
  return limits.toolTokens + local + pending + exhaustedPrompt + (reported.get(sessionId) ?? 0);
}

function isOfLostOwner({ store }: Books, row: AdmissionRow): boolean {
  return (row.ownerEpoch ?? 0) < store.epoch();
}

function sameRow(a: AdmissionRow, b: AdmissionRow): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function difference(a: AdmissionRow, b: AdmissionRow): string {
  const keys = Object.keys(a) as (keyof AdmissionRow)[]; // a row has the fields of a row
  return keys
    .filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]))
    .map((key) => `${key} ${JSON.stringify(a[key])} → ${JSON.stringify(b[key])}`)
    .join(', ');
}

export function nameOf(row: AdmissionRow | undefined): string {
  if (row === undefined) return 'nobody';
  const detail = row.outcome ?? (row.status === 'started' ? row.boundary : '');
  return `${row.inputId} (${row.admissionId}, ${row.status}${detail === '' ? '' : ` ${detail}`})`;
}

function namesOf(rows: readonly AdmissionRow[]): string {
  return rows.map(nameOf).join(' and ');
}
