import { createHash } from 'node:crypto';
import type { Digest } from '../../../core/ports/digest.ts';

export class Sha256Digest implements Digest {
  of(text: string): string {
    return createHash('sha256').update(text, 'utf8').digest('hex');
  }
}
