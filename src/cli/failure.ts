import type { ExitCode } from '../config/exit-codes.ts';

/** Why a command ends without success, for a person and for a program. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: ExitCode;
  /** A stable name: one of the protocol's reasons, or one of the command line's own. */
  readonly reason: string;
  /** What else a program may want to know, for `--json`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    exitCode: ExitCode,
    reason: string,
    message: string,
    { details = {}, cause }: { readonly details?: Readonly<Record<string, unknown>>; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.exitCode = exitCode;
    this.reason = reason;
    this.details = details;
  }
}
