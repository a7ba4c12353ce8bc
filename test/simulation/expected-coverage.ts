import type { Coverage, CoverageKind } from './coverage.ts';

/** What a campaign must reach to mean anything. What is reached beyond it is shown as well. */
const expected: Readonly<Partial<Record<CoverageKind, readonly string[]>>> = {
  event: [
    'session.created',
    'session.held',
    'session.released',
    'admission.queued',
    'admission.cancelled',
    'admission.requeued',
    'turn.started',
    'message.appended',
    'tool.started',
    'tool.finished',
    'turn.stop_requested',
    'turn.settled',
    'turn.lost',
    'turn.resolved',
    'compression.started',
    'compression.completed',
    'compression.failed',
  ],
  outcome: ['completed', 'failed', 'interrupted'],
  failure: [
    'rate_limited',
    'unavailable',
    'auth',
    'bad_request',
    'stalled',
    'cut_off',
    'empty_reply',
    'internal',
    'context_exhausted',
    'crash_loop',
    'max_steps',
  ],
  refusal: [
    'not_found',
    'admission_conflict',
    'request_conflict',
    'revision_conflict',
    'stale_generation',
    'unknown_execution',
    'already_resolved',
    'not_unknown',
    'not_queued',
    'turn_over',
    'queue_full',
    'draining',
    'session_busy',
  ],
  answer: ['compress: compressed', 'compress: failed', 'compress: nothing_to_compress', 'compress: request_conflict'],
  'append refused': ['duplicate', 'request_taken', 'stale_epoch'],
  fault: [
    'burst',
    'lost',
    'limbo',
    'sync_fails',
    'storage_full',
    'read_fails',
    'old_owner',
    'long',
    'usage',
    'tools',
    'model',
    'again',
    'overflow',
    'summary',
    'tool',
  ],
  blow: ['kill', 'kill_all', 'pause', 'wake', 'hang_up'],
  fatal: ['storage', 'superseded', 'stopped'],
  'crash at': [
    'append: written, not synced',
    ...[
      'session.created',
      'admission.queued',
      'turn.started',
      'message.appended',
      'turn.stop_requested',
      'turn.settled',
      'turn.lost',
      'turn.resolved',
      'admission.requeued',
      'compression.started',
      'compression.completed',
      'compression.failed',
    ].flatMap((type) => [`append: not written: ${type}`, `append: durable, not answered: ${type}`]),
    'take ownership ✎',
    'unfinished',
    'at recovery.before',
    'at recovery.session',
    'at recovery.after',
    'at model.before_send',
    'at model.first_event',
    'at model.after_answer',
    'at summary.before_send',
    'at rotate.before_commit',
    'at rotate.after_commit',
    'at settle.before_commit',
    'at settle.after_commit',
    'turn request arrives',
    'turn request text',
    'turn request finish',
    'summary request arrives',
    'summary request finish',
    'at tool.before_call',
    'at tool.after_call',
    'tool call arrives',
    'tool call answers',
  ],
};

/** `<kind>: <name>` of everything that was expected and never reached. */
export function unreached(coverage: Coverage): readonly string[] {
  return Object.entries(expected).flatMap(([kind, names]) =>
    names.filter((name) => coverage.count(kind as CoverageKind, name) === 0).map((name) => `${kind}: ${name}`),
  ); // The keys of the record are kinds.
}

/** A line for each kind, with how often each name was reached. */
export function coverageTable(coverage: Coverage): string {
  const kinds: readonly CoverageKind[] = [
    'command',
    'answer',
    'refusal',
    'append refused',
    'event',
    'outcome',
    'failure',
    'model',
    'fault',
    'blow',
    'fatal',
    'crash at',
  ];
  return kinds.flatMap((kind) => [`\n${kind}`, ...rows(coverage, kind)]).join('\n');
}

function rows(coverage: Coverage, kind: CoverageKind): readonly string[] {
  return coverage.names(kind).map((name) => `  ${String(coverage.count(kind, name)).padStart(9)}  ${name}`);
}
