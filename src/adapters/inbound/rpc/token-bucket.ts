/** Lets so many calls pass in a second, and a burst after a pause. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledAtMs: number;

  constructor(rate: { readonly perSecond: number; readonly burst: number; readonly nowMs: () => number }) {
    this.#perSecond = rate.perSecond;
    this.#burst = rate.burst;
    this.#nowMs = rate.nowMs;
    this.#tokens = rate.burst;
    this.#filledAtMs = rate.nowMs();
  }

  /** 0: the call may pass. Else it may not, and this is how long to wait, in milliseconds. */
  take(): number {
    const nowMs = this.#nowMs();
    const earned = (Math.max(0, nowMs - this.#filledAtMs) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecond);
    this.#tokens -= 1;
    return 0;
  }
}
