/* P1, P5, P7, P8 and P12 on a snapshot. */
import { isOwner, logOf, wasOnce } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, SnapshotView } from './calls.ts';
import type { ProcessView } from './rows.ts';

/** A snapshot is one committed instant, and not older than what its process has told before. */
export function judgeSnapshot(
  books: Books,
  process: ProcessView,
  asked: Asked & { readonly limit: number },
  snapshot: SnapshotView | null,
): void {
  const { verdict, versions, turnRequests, moments } = books;
  if (snapshot === null) {
    const isGone = !isOwner(books, process) || wasOnce(books, asked, ({ deleted }) => deleted);
    verdict.hold(isGone, 'P8', () => `no snapshot for ${asked.address}`);
    return;
  }
  if (!isOwner(books, process)) return;
  const { state, messages, pending, partial } = snapshot;
  const { toldSeq } = asked;
  verdict.hold(state.seq >= toldSeq, 'P12', () => `a snapshot of ${state.seq} was asked for after news of ${toldSeq}`);
  const version = versions.get(asked.sessionId)?.get(state.seq);
  if (!verdict.hold(version !== undefined, 'P1', () => `the snapshot of ${state.seq} was never committed`)) return;
  if (version === undefined) return;
  const expectedIds = version.activeIds.slice(-asked.limit).join();
  const ids = messages.map(({ id }) => id).join();
  const at = `the snapshot of ${asked.sessionId} at ${state.seq}`;
  verdict.hold(state.lineage.tipId === version.row.tipId, 'P7', () => `${at} names another tip`);
  verdict.hold(ids === expectedIds, 'P12', () => `${at} has the messages ${ids} instead of ${expectedIds}`);
  const more = version.activeIds.length > messages.length;
  verdict.hold(snapshot.moreMessages === more, 'P12', () => `${at} is wrong about older messages`);
  const open = pending.map(({ admission }) => `${admission.admissionId} ${admission.status}`).sort();
  const expectedOpen = [...version.open.values()].map((row) => `${row.admissionId} ${row.status}`).sort();
  verdict.hold(
    open.join() === expectedOpen.join(),
    'P12',
    () => `${at} has ${open.join()} instead of ${expectedOpen.join()}`,
  );
  const waiting = snapshot.approvals.map(({ approvalId }) => approvalId).join();
  verdict.hold(waiting === version.approvalIds.join(), 'P12', () => `${at} shows ${waiting} as waiting`);
  for (const { admission, content } of pending) {
    const text = moments.get(asked.sessionId)?.[state.seq - 1]?.admissions.get(admission.admissionId)?.text;
    verdict.hold(content?.text === text, 'P12', () => `${at} has another prompt for ${admission.inputId}`);
  }
  if (partial === null) return;
  const running = [...version.open.values()].find((row) => row.executionGeneration === partial.executionGeneration);
  const said = (turnRequests.get(running?.admissionId ?? '') ?? []).map((exchange) => exchange.said.join(''));
  const isTrue = said.some((text) => text.startsWith(partial.text)) && partial.offset === partial.text.length;
  verdict.hold(isTrue, 'P5', () => `${at} has a partial answer that nobody gave`);
  // By its step: a model may say the same twice.
  const stored = logOf(books, asked.sessionId).some(
    ({ seq, step, message, executionGeneration }) =>
      seq <= state.seq &&
      message?.kind === 'answer' &&
      executionGeneration === partial.executionGeneration &&
      step === partial.step,
  );
  verdict.hold(!stored, 'P12', () => `${at} has its newest answer twice, stored and partial`);
}
