/**
 * Counts failed attempts for each remote address in windows of a minute.
 *
 * It never looks at attempts that succeed: every process of a machine shares the loopback address, so a program that
 * guesses must not lock out the one that knows. Guessing a token of 256 bits is hopeless anyway; what this bounds is the
 * noise and the work that failures make.
 */
export class FailureLimit {
  readonly #maxPerMinute: number;
  readonly #nowMs: () => number;
  readonly #byAddress = new Map<string, Window>();

  constructor(options: { readonly maxPerMinute: number; readonly nowMs: () => number }) {
    this.#maxPerMinute = options.maxPerMinute;
    this.#nowMs = options.nowMs;
  }

  /** Counts a failure. 0: one of those that are answered as such. Else too many, and this is how long to wait, in seconds. */
  count(remoteAddress: string): number {
    const nowMs = this.#nowMs();
    const address = networkOf(remoteAddress);
    const known = this.#byAddress.get(address);
    const window = known !== undefined && known.endsAtMs > nowMs ? known : { endsAtMs: nowMs + windowMs, failures: 0 };
    window.failures += 1;
    // The newest stays longest: the map keeps the order of insertion.
    this.#byAddress.delete(address);
    this.#byAddress.set(address, window);
    if (this.#byAddress.size > maxAddresses) this.#forgetOldest();
    return window.failures <= this.#maxPerMinute ? 0 : Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1_000));
  }

  #forgetOldest(): void {
    const [oldest] = this.#byAddress.keys();
    if (oldest !== undefined) this.#byAddress.delete(oldest);
  }
}

interface Window {
  readonly endsAtMs: number;
  failures: number;
}

const windowMs = 60_000;
const maxAddresses = 1_024;

/** One subscriber of IPv6 has 2⁶⁴ addresses, so its network counts. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
