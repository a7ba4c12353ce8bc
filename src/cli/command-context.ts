import type { ConnectOptions, GatewayConnection } from './gateway-connection.ts';
import type { CliIo } from './io.ts';
import { printable } from './printable.ts';

/** What a command that talks to a gateway gets. */
export interface CommandContext {
  readonly io: CliIo;
  readonly json: boolean;
  /** Connects, or throws a `CliFailure` that says how to start a gateway. */
  connect(options?: ConnectOptions): Promise<GatewayConnection>;
  readonly nowMs: () => number;
}

/** Runs a command's calls on one connection and closes it whatever happens. */
export async function withConnection<T>(
  context: CommandContext,
  use: (connection: GatewayConnection) => Promise<T>,
  options: ConnectOptions = {},
): Promise<T> {
  const connection = await context.connect(options);
  try {
    return await use(connection);
  } finally {
    connection.close();
  }
}

/** Writes a command's result to stdout: the value as one JSON document, or the text for a person. */
export function printResult({ io, json }: CommandContext, value: unknown, text: () => string): void {
  io.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${printable(text())}\n`);
}

/** A remark beside the result. Programs that read JSON don't get any. */
export function remark({ io, json }: CommandContext, text: string): void {
  if (!json) io.stderr.write(`${printable(text)}\n`);
}
