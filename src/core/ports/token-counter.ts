/**
 * Counts tokens locally: for each text the larger of the tokenizer's count and its UTF-8 bytes / 4, rounded up.
 *
 * It never fails: when the tokenizer is not to be had, the bytes decide. One long run of equal letters costs no more
 * than any other text of its length.
 */
export interface TokenCounter {
  count(texts: readonly string[]): Promise<readonly number[]>;
}
