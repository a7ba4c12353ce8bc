import type { Rule } from '../judge/verdict.ts';
import type { Patch } from './plant.ts';

export interface PlantedBug {
  readonly name: string;
  /** The histories within which it must be found. */
  readonly within: number;
  /** Of the campaign that must find it, chosen so that the check takes little time; 1 where nothing is said. */
  readonly seed?: number;
  /** What it may break; a failure of another kind doesn't count as finding it. */
  readonly breaks: readonly Rule[];
  readonly patches: readonly Patch[];
}
