/*
 * How long a provider asks us to wait, in milliseconds, in every form in which it may say so. What is not in a legal form
 * is null and never a guess: `2abc` is not two seconds.
 */

export interface RetryAfterSources {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A delay that a field of the body states. */
  readonly bodyMs: number | null;
  /** The provider's words, in the form of `matchable`. */
  readonly text: string;
  /** Milliseconds since 1970, for a date; null where the answer's own `date` has to do. */
  readonly nowMs: number | null;
}

export function retryAfterMs(sources: RetryAfterSources): number | null {
  const { headers } = sources;
  return bounded(
    decimal(headers['retry-after-ms'], 1) ??
      decimal(headers['retry-after'], 1000) ??
      untilDate(headers['retry-after'], sources.nowMs ?? httpDate(headers['date'])) ??
      sources.bodyMs ??
      proseDelay(sources.text),
  );
}

/** Nobody means to wait for longer than a year; beyond it is a broken number. */
const maxDelayMs = 365 * 24 * 3600 * 1000;

function bounded(ms: number | null): number | null {
  return ms === null || ms > maxDelayMs ? null : Math.max(0, Math.round(ms));
}

/** RFC 9110 allows whole seconds; some servers send decimals. */
function decimal(value: string | undefined, factor: number): number | null {
  return value !== undefined && /^\d{1,12}(?:\.\d{1,9})?$/.test(value.trim()) ? Number(value) * factor : null;
}

function untilDate(value: string | undefined, fromMs: number | null): number | null {
  const at = httpDate(value);
  return at === null || fromMs === null ? null : Math.max(0, at - fromMs);
}

/** The three forms of RFC 9110, section 5.6.7. `Date.parse` alone would also take much that is no date. */
function httpDate(value: string | undefined): number | null {
  const text = value?.trim() ?? '';
  const isImfFixdate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text);
  const isRfc850 = /^\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/.test(text);
  const isAsctime = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(text);
  if (!isImfFixdate && !isRfc850 && !isAsctime) return null;
  const at = Date.parse(isAsctime ? `${text} GMT` : text);
  return Number.isNaN(at) ? null : at;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `try again in 4.77s`, `in 7m12s`, `retry after 30 seconds`, `wait 5 minutes`. */
function proseDelay(text: string): number | null {
  const match =
    /(?:try again|retry|retrying|wait|available|resets?)\b(?: again)?(?: in| after| for)? ?(?:about |approximately |at least )?((?:\d+(?:\.\d+)? ?(?:milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[smhd])(?![a-z]) ?(?:and |, )?)+)/.exec(
      text.replace(/(\d)(ms|[smhd])(?=\d)/g, '$1$2 '),
    );
  if (match?.[1] === undefined) return null;
  const pieces = [...match[1].matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/g)];
  return pieces.reduce((sum, [, amount, name]) => sum + Number(amount) * (unitMs[unitOf(name ?? '')] ?? 0), 0);
}

function unitOf(name: string): string {
  return name.startsWith('ms') || name.startsWith('milli') ? 'ms' : name.slice(0, 1);
}
