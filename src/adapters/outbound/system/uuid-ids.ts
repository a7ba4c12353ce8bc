import { v7 } from 'uuid';
import type { IdSource } from '../../../core/ports/id-source.ts';

/** UUIDs of version 7. Those of one process sort in the order in which they were made, also when the clock steps back. */
export class UuidIds implements IdSource {
  next(): string {
    return v7();
  }
}
