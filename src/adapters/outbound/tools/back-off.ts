/** How a server that keeps failing is left alone for longer and longer. A failure is a start or a run that broke. */

const firstDelayMs = 1_000;
/** From this many failures in a row on the server counts as failed. */
const failuresToGiveUp = 6;
/** A failed server is tried again this long after its last failure, so that a repaired one needs no restart of ours. */
const failedDelayMs = 300_000;

/** How long after the newest of `failures` failures in a row the next start may be tried: 1, 2, 4, 8, 16, then 300 s. */
export function backOffMs(failures: number): number {
  if (failures === 0) return 0;
  return hasGivenUp(failures) ? failedDelayMs : firstDelayMs * 2 ** (failures - 1);
}

export function hasGivenUp(failures: number): boolean {
  return failures >= failuresToGiveUp;
}
