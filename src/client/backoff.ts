/**
 * How long to wait before the next attempt to connect: twice as long each time up to a limit, and a random part of it, so
 * that many clients don't come back in the same instant. `random` is between 0 and 1.
 */
export function backoffMs(attempt: number, random: number): number {
  const ceilingMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 20));
  return Math.round(ceilingMs * (0.5 + random / 2));
}

const firstMs = 200;
const maxMs = 10_000;
