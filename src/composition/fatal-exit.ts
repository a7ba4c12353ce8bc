import { exitCodes } from '../config/exit-codes.ts';
import type { ExitCode } from '../config/exit-codes.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { FatalCause } from '../core/use-cases/fatal-cause.ts';

/** Says why the process must end, and with which code. */
export function fatalExit(cause: FatalCause, logger: Logger): ExitCode {
  switch (cause.kind) {
    case 'storage':
      logger.error(
        cause.error.kind === 'corrupt'
          ? 'the store is damaged: nothing more is written. The next start looks at all of it first; a way back is `holdfast restore FILE`'
          : 'the storage failed: what was being written may or may not be there',
        { error: cause.error },
      );
      return exitCodes.storage;
    case 'superseded':
      logger.error('another gateway has taken this store over', { epoch: cause.epoch });
      return exitCodes.owned;
    case 'bug':
      logger.error('a bug ended the gateway', { error: cause.error });
      return exitCodes.internal;
  }
}
