import { environmentOf } from '../../config/environment.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { connectTo, type GatewayConnection } from '../gateway-connection.ts';
import type { DemoHome } from './demo-home.ts';
import type { GatewayProcess, ProcessEnd } from './gateway-process.ts';
import type { DemoGateway } from './record.ts';
import { SessionWatch } from './session-watch.ts';
import type { Teller } from './teller.ts';

/** A process and the demo's connection to it. */
export interface Opened {
  readonly gateway: GatewayProcess;
  readonly connection: GatewayConnection;
  readonly status: ResultOf<'gateway.status'>;
}

/** Starts a process on the home and connects to it. */
export async function open(home: DemoHome, teller: Teller): Promise<Opened> {
  const gateway = await home.start();
  // The demo's own gateway is meant, whatever the environment names.
  const connection = await connectTo({ home: home.path }, environmentOf({}), {});
  const status = await connection.call('gateway.status', {});
  const { epoch, model } = status;
  teller.fact('gateway', `process ${gateway.pid}, epoch ${epoch}, model "${model.model}"`);
  return { gateway, connection, status };
}

/** Ends the process, and says how it ended. */
export async function endOf(
  { gateway, connection }: Opened,
  signal: 'SIGKILL' | 'SIGTERM',
  teller: Teller,
): Promise<ProcessEnd> {
  const end = await gateway.end(signal);
  connection.close();
  const words = end.signal === null ? `ended with exit code ${end.code ?? 'unknown'}` : `was ended by ${end.signal}`;
  teller.fact('gateway', `process ${gateway.pid} got ${signal} and ${words}`);
  return end;
}

export function seen({ gateway, status }: Opened, ended: ProcessEnd | null): DemoGateway {
  return { pid: gateway.pid, epoch: status.epoch, instanceId: status.instance_id, ended };
}

/** Follows the session from its snapshot on. */
export async function watched({ connection }: Opened, sessionId: string): Promise<SessionWatch> {
  return new SessionWatch((await connection.follow({ session_id: sessionId, message_limit: 1 })).events);
}
