import { readFileSync } from 'node:fs';

/** User and system time of a process and its threads so far, in milliseconds. Linux only. */
export function cpuMs(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 10; // a tick is 10 ms on every Linux that Node runs on
}
