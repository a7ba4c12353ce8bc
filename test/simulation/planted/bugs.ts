import { commitsBugs } from './bugs/commits.ts';
import { compressionBugs } from './bugs/compression.ts';
import { queueBugs } from './bugs/queue.ts';
import { recoveryBugs } from './bugs/recovery.ts';
import { sessionsBugs } from './bugs/sessions.ts';
import { toolsBugs } from './bugs/tools.ts';
import { turnsBugs } from './bugs/turns.ts';
import type { PlantedBug } from './planted-bug.ts';

/** Faults that a programmer could make. A simulator that misses one of them has gone blind. */
export const plantedBugs: readonly PlantedBug[] = [
  ...commitsBugs,
  ...turnsBugs,
  ...recoveryBugs,
  ...compressionBugs,
  ...toolsBugs,
  ...queueBugs,
  ...sessionsBugs,
];
