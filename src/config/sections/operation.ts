import { z } from 'zod';
import { seconds } from './values.ts';

/** The sections that say how the process keeps its data, stops and reports. */

export const storageSection = z
  .strictObject({
    synchronous: z
      .enum(['full', 'normal'])
      .default('full')
      .describe('`full`: an accepted prompt survives a power cut. `normal`: it survives a killed process only.'),
    allow_unsafe_filesystem: z
      .boolean()
      .default(false)
      .describe('Start on a network or virtio file system, where SQLite cannot keep its promises.'),
  })
  .prefault({})
  .describe('The database.');

export const recoverySection = z
  .strictObject({
    on_unknown: z
      .enum(['hold', 'discard'])
      .default('hold')
      .describe(
        'What becomes of a turn that was lost after something may have been sent: wait for a decision, or end as `interrupted`.',
      ),
    on_outage: z
      .enum(['hold', 'continue'])
      .default('hold')
      .describe("What becomes of a session's queue when a turn fails for a reason that is not its prompt's own."),
  })
  .prefault({})
  .describe('What happens without asking when something was lost.');

export const shutdownSection = z
  .strictObject({
    drain_seconds: seconds(10, 0, 3_600).describe('How long running turns may go on after the signal to stop.'),
  })
  .prefault({})
  .describe('A graceful stop.');

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const loggingSection = z
  .strictObject({
    level: z
      .enum(logLevels)
      .default('info')
      .describe('The least important lines that are written. `HOLDFAST_LOG_LEVEL` overrides it.'),
    format: z
      .enum(['auto', 'json', 'pretty'])
      .default('auto')
      .describe('`json`: one object a line. `pretty`: for people. `auto`: pretty on a terminal.'),
  })
  .prefault({})
  .describe('The log, which goes to stderr.');
