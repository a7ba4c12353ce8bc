import type { WireReceipt } from '../protocol/receipt.ts';

/** Where a prompt stands, in a few words. */
export function admissionWords(receipt: WireReceipt): string {
  switch (receipt.status) {
    case 'queued':
      if (receipt.delivery === 'steer') return 'waits for the next step of the running turn';
      return `queued, ${receipt.ahead} ahead${blockedWords(receipt)}`;
    case 'started':
      return 'running';
    case 'unknown':
      return `fate unknown: its process was lost after ${boundaryWords[receipt.evidence?.boundary ?? 'model']}`;
    case 'terminal':
      return endWords(receipt);
  }
}

function blockedWords({ blocked_by: blockers }: WireReceipt): string {
  return blockers.length === 0 ? '' : `; ${blockers.map((blocker) => blockerWords[blocker]).join(', ')}`;
}

const blockerWords = {
  unknown_execution: 'waits until the lost turn before it is resolved',
  session_held: 'the session is held until `holdfast release`, or the end of its hold',
  compressing: 'the transcript is being compressed',
  storage: 'the storage is in trouble',
} as const satisfies Record<WireReceipt['blocked_by'][number], string>;

const boundaryWords = {
  none: 'nothing was sent',
  model: 'a request to the model may have been sent',
  tool: 'a tool may have been called',
} as const satisfies Record<NonNullable<WireReceipt['evidence']>['boundary'], string>;

function endWords({ outcome, failure, resolution, retried_by: retry, merged_into: turn }: WireReceipt): string {
  const words = outcome ?? 'ended';
  if (turn !== undefined) return `${words}: its text is in the turn of ${turn}`;
  if (failure !== undefined) return `${words}: ${failure.message} (${failure.reason})`;
  if (retry !== undefined) return `${words}; tried again as ${retry}`;
  return resolution === undefined ? words : `${words}: its turn was lost, and it was discarded by ${resolution.by}`;
}
