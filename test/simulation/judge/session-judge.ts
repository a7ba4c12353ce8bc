/* What an update and a deletion may do, and what is left afterwards. */
import { admissionOf, asSeenBy, isOwner, wasOnce, wasRightlyRefused } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard } from './calls.ts';
import type { Moment } from './moments.ts';
import type { EventRow, ProcessView, SessionChanges, SessionRow } from './rows.ts';

/** Nothing happens to a session that was deleted, and only one in which everything has ended is. */
export function judgeSessionEvent({ verdict }: Books, moment: Moment, { type }: EventRow): void {
  verdict.hold(!moment.deleted, 'deletion', () => `${type} happened to a deleted session`);
  if (type !== 'session.deleted') return;
  const left = [...moment.admissions.values()].find(({ status }) => status !== 'terminal');
  verdict.hold(
    left === undefined,
    'deletion',
    () => `a session was deleted while ${left?.inputId} was ${left?.status}`,
  );
  verdict.hold(moment.compressing === null, 'deletion', () => 'a session was deleted while it was compressed');
}

/** The row is what the log says. */
export function judgeSessionRow({ verdict }: Books, sessionId: string, moment: Moment, row: SessionRow): void {
  for (const field of ['revision', 'title', 'model', 'archived', 'pinned', 'deleted', 'held'] as const) {
    const said = `${field} of ${sessionId} is ${row[field]} instead of ${moment[field]}`;
    verdict.hold(row[field] === moment[field], 'update', () => said);
  }
}

/** Identities and outcomes are all that a deletion leaves. */
export function judgeDeletedRows({ verdict, store }: Books, sessionId: string): void {
  const messages = store.transcripts(sessionId).flatMap(({ id }) => [...store.messages(id).keys()]);
  verdict.hold(messages.length === 0, 'deletion', () => `the messages ${messages.join()} of ${sessionId} are left`);
  const events = store.events(sessionId).map(({ type }) => type);
  verdict.hold(events.join() === 'session.deleted', 'deletion', () => `the events ${events.join()} are left`);
  const approvals = store.approvals(sessionId);
  verdict.hold(approvals.length === 0, 'deletion', () => `${approvals.length} approvals of ${sessionId} are left`);
}

/** What is still answered: receipts of known ids, and a repeat of the deletion. */
const survives = new Set(['submit', 'steer', 'receipt', 'delete', 'subscribe']);

/** Whether an answer is what a deletion makes of it; then nothing else is to be said of it. */
export function isOfDeleted(
  books: Books,
  process: ProcessView,
  asked: Asked & { readonly do: string; readonly inputId?: string },
  heard: { readonly kind: string; readonly refusal?: { readonly reason: string } },
): boolean {
  const { verdict, moments } = books;
  // A compression that finds nothing to do decides nothing: it may look at a state from before a deletion that is on its way.
  const wasDeleted =
    heard.kind === 'nothing_to_compress'
      ? asked.deletionAnswered
      : moments.get(asked.sessionId)?.[asked.sinceSeq - 1]?.deleted === true;
  const isAnswered = !['refused', 'unavailable', 'not_found'].includes(heard.kind);
  if (wasDeleted && isAnswered && isOwner(books, process)) {
    const { do: command, address } = asked;
    verdict.hold(survives.has(command), 'deletion', () => `${command} of the deleted ${address} was ${heard.kind}`);
  }
  const isNotFound = heard.kind === 'not_found' || heard.refusal?.reason === 'not_found';
  if (!isNotFound || !wasOnce(books, asked, ({ deleted }) => deleted)) return false;
  if (asked.do === 'delete') return false;
  if (asked.do !== 'submit' && asked.do !== 'steer' && asked.do !== 'receipt') return true;
  verdict.hold(
    admissionOf(books, asked) === undefined,
    'P2',
    () => `the known ${asked.inputId} of a deleted session was not found`,
  );
  return true;
}

export type Updated = Asked & { readonly revision: number | null; readonly changes: SessionChanges };

/** Compare and set: what is acknowledged was decided on the revision that the client had seen. */
export function judgeUpdated(
  books: Books,
  process: ProcessView,
  asked: Updated,
  heard: Heard<{ readonly revision: number }>,
): void {
  const { verdict, store } = books;
  const { revision, changes } = asked;
  if (heard.kind === 'done') {
    const since = asSeenBy(books, process, asked);
    const isSet = wasOnce(books, since, (moment) => hasChanges(moment, changes));
    verdict.hold(isSet, 'P1', () => `an update to ${JSON.stringify(changes)} was acknowledged and never was`);
    const had = revision === null || wasOnce(books, since, (moment) => moment.revision === revision);
    verdict.hold(had, 'update', () => `an update at revision ${revision} was taken, which the session did not have`);
    const newest = store.session(asked.sessionId)?.revision ?? 0;
    verdict.hold(newest >= heard.reply.revision, 'P1', () => 'an update was acknowledged and is not stored');
  } else if (heard.kind === 'refused' && isOwner(books, process)) {
    const { reason } = heard.refusal;
    const isRight = wasRightlyRefused(books, asked, reason, {
      revision_conflict: (moment) => revision !== null && moment.revision !== revision,
      session_busy: (moment) => changes.model !== undefined && isRunning(moment),
    });
    verdict.hold(isRight, 'update', () => `an update of ${asked.address} was refused as ${reason}`);
  }
}

function hasChanges(moment: Moment, { title, model, archived, pinned }: SessionChanges): boolean {
  return (
    (title === undefined || moment.title === title) &&
    (model === undefined || moment.model === model.model) &&
    (archived === undefined || moment.archived === archived) &&
    (pinned === undefined || moment.pinned === pinned)
  );
}

function isRunning({ admissions }: Moment): boolean {
  return [...admissions.values()].some(({ status }) => status === 'started');
}

export function judgeDeletion(books: Books, process: ProcessView, asked: Asked, heard: Heard<object>): void {
  const { verdict, store } = books;
  if (heard.kind === 'done') {
    const isStored = store.session(asked.sessionId)?.deleted === true;
    verdict.hold(isStored, 'P1', () => `the deletion of ${asked.sessionId} was acknowledged and is not stored`);
  } else if (heard.kind === 'refused' && isOwner(books, process)) {
    const { reason } = heard.refusal;
    const isBusy = ({ admissions, compressing }: Moment): boolean =>
      compressing !== null || [...admissions.values()].some(({ status }) => status !== 'terminal');
    const isRight = reason === 'session_busy' && wasOnce(books, asked, isBusy);
    verdict.hold(isRight, 'deletion', () => `the deletion of ${asked.sessionId} was refused as ${reason}`);
  }
}
