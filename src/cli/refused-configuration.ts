import { ConfigError, formatProblem } from '../config/config-error.ts';
import { exitCodes } from '../config/exit-codes.ts';
import { CliFailure } from './failure.ts';

/** The configuration that `read` gives; what is wrong with it becomes a failure of the command. */
export function orRefused<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ConfigError ? refused(error) : error;
  }
}

/** As `orRefused`, for what takes time. */
export async function orRefusedLater<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof ConfigError ? refused(error) : error;
  }
}

function refused({ problems }: ConfigError): CliFailure {
  const summary = problems.length === 1 ? 'One problem:' : `${String(problems.length)} problems:`;
  const message = [summary, ...problems.map(formatProblem)].join('\n');
  return new CliFailure(exitCodes.configuration, 'invalid_configuration', message, { details: { problems } });
}
