/** How long ago an instant was, in the largest unit that is not zero. */
export function ago(at: string, nowMs: number): string {
  return `${duration(Math.max(0, nowMs - Date.parse(at)))} ago`;
}

export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
