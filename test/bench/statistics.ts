export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

export function perSecond(count: number, elapsedMs: number): number {
  return (count / elapsedMs) * 1000;
}
