/** What the process says when it ends, after sysexits.h where it has a number. Public: scripts and units rely on them. */
export const exitCodes = {
  ok: 0,
  /** The gateway refused the call, or the prompt ended in another way than `completed`. */
  refused: 1,
  /** The command line was not understood. */
  usage: 2,
  /** No gateway could be reached, or the connection was lost. */
  unreachable: 69,
  /** A bug, or the watchdog of a graceful stop. */
  internal: 70,
  storage: 74,
  /** Another owner holds the home, or has superseded this one. */
  owned: 75,
  configuration: 78,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
