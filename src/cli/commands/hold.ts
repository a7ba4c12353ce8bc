import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';

export interface HoldOptions {
  /** What lists show beside the session; without one that a client asked for it. */
  readonly reason?: string;
}

/** Pauses a session's queue. A turn that runs goes on. */
export async function runHold(context: CommandContext, session: string, { reason }: HoldOptions): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const params = { session_id: session, ...(reason === undefined ? {} : { reason }) };
    const held = await connection.call('session.hold', params);
    printResult(context, held, () =>
      [
        'The session is held: a turn that runs goes on, and nothing more starts.',
        `Go on with: holdfast release ${held.session_id}`,
      ].join('\n'),
    );
    return exitCodes.ok;
  });
}

/** Ends the hold of a session, whoever set it: a person, or the gateway after an outage. */
export async function runRelease(context: CommandContext, session: string): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const released = await connection.call('session.release', { session_id: session });
    const { blocked_by: blockers } = await connection.call('session.get', { session_id: session });
    const lost = blockers.includes('unknown_execution');
    printResult(context, released, () =>
      lost
        ? `The session isn't held any more. Its queue waits until its lost turn is resolved: holdfast resolve ${released.session_id}`
        : "The session isn't held any more, and its queue goes on.",
    );
    return exitCodes.ok;
  });
}
