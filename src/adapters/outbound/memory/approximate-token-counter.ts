import { roughTokens } from '../../../core/domain/transcript/tokens.ts';
import type { TokenCounter } from '../../../core/ports/token-counter.ts';

/** Counts UTF-8 bytes / 4, rounded up: what the port promises where no tokenizer is to be had. */
export class ApproximateTokenCounter implements TokenCounter {
  async count(texts: readonly string[]): Promise<readonly number[]> {
    return texts.map(roughTokens);
  }
}
