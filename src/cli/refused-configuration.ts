import { ConfigError, formatProblem } from '../config/config-error.ts';
import { exitCodes } from '../config/exit-codes.ts';
import { HomeFileError } from '../config/home-file-error.ts';
import { CliFailure } from './failure.ts';

/** The configuration that `read` gives; what is wrong with it, or with the home folder, becomes a failure of the command. */
export function orRefused<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** As `orRefused`, for what takes time. */
export async function orRefusedLater<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Anything else is not a matter of the operator. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ConfigError) return refused(error);
  if (!(error instanceof HomeFileError)) return error;
  return new CliFailure(exitCodes.storage, 'unwritable', error.message, { cause: error });
}

function refused({ problems }: ConfigError): CliFailure {
  const summary = problems.length === 1 ? 'One problem:' : `${String(problems.length)} problems:`;
  const message = [summary, ...problems.map(formatProblem)].join('\n');
  return new CliFailure(exitCodes.configuration, 'invalid_configuration', message, { details: { problems } });
}
