import type { Check } from './checks.ts';
import { storiesOf, type DemoRecord } from './record.ts';
import { eventsOf, lineageOf } from './sighting.ts';
import { shortId, type Teller } from './teller.ts';

/** The facts of a run as one JSON document. */
export function documentOf(record: DemoRecord, checks: readonly Check[]): Readonly<Record<string, unknown>> {
  const { beforeKill, afterRestart, atEnd, leader } = record;
  return {
    ok: checks.every(({ holds }) => holds),
    session_id: record.sessionId,
    gateways: record.gateways.map(({ pid, epoch, instanceId, ended }) => ({
      pid,
      epoch,
      instance_id: instanceId,
      ended,
    })),
    compressions: eventsOf(atEnd, 'compression.completed').map(({ seq, payload }) => ({ seq, ...payload })),
    evidence: afterRestart.prompts.find(({ admission_id }) => admission_id === leader.admission_id)?.evidence ?? null,
    admissions: storiesOf(record).map((story) => ({
      input_id: story.inputId,
      admission_id: story.admissionId,
      sequence: story.sequence,
      before_kill: story.beforeKill,
      after_restart: story.afterRestart,
      at_end: story.atEnd,
      runs: story.runs,
    })),
    lineage: {
      before_kill: lineageOf(beforeKill),
      after_restart: lineageOf(afterRestart),
      at_end: lineageOf(atEnd),
    },
    checks: checks.map(({ promise, holds }) => ({ promise, ok: holds })),
  };
}

/** The same for a person. */
export function tellReport(record: DemoRecord, checks: readonly Check[], teller: Teller): void {
  teller.heading('Admissions');
  teller.table(
    ['INPUT ID', 'ADMISSION', 'SEQUENCE', 'BEFORE KILL', 'AFTER RESTART', 'AT THE END', 'RUNS'],
    storiesOf(record).map((story) => [
      story.inputId,
      shortId(story.admissionId),
      String(story.sequence),
      story.beforeKill,
      story.afterRestart,
      story.atEnd,
      String(story.runs),
    ]),
  );

  teller.heading('Lineage, the chain of transcripts');
  const lineage = (sighting: DemoRecord['atEnd']): string => lineageOf(sighting).map(shortId).join(' → ');
  teller.table(
    ['BEFORE KILL', 'AFTER RESTART', 'AT THE END'],
    [[lineage(record.beforeKill), lineage(record.afterRestart), lineage(record.atEnd)]],
  );

  teller.heading('Checks, each computed from what the gateways answered');
  for (const { holds, promise } of checks) teller.verdict(holds, promise);
}
