import { z } from 'zod';
import { count } from './fields.ts';

/** The name of the protocol: the WebSocket subprotocol, and `protocol` in `gateway.ready`. */
export const protocolName = 'holdfast.v1';

/** Beside `holdfast.v1` a browser offers the subprotocol `holdfast.token.<token>`: it can't set headers. */
export const tokenProtocolPrefix = 'holdfast.token.';

export const rpcPath = '/rpc';

export const longestWaitMs = 300_000;

/** Of a text in an event or a list. The whole text is in the history. */
export const maxShownTextBytes = 64 * 1024;

/** What a connection may do. The numbers that hold for it are in `gateway.ready`. */
export const connectionLimits = z.strictObject({
  max_frame_bytes: count.describe('A larger frame closes the connection with 1009.'),
  max_batch: count.describe('Calls in one batch.'),
  max_json_depth: count.describe('How deep arrays and objects may be nested.'),
  max_json_values: count.describe('How many values one frame may hold.'),
  max_in_flight: count.describe('Calls that are not answered yet.'),
  max_subscriptions: count,
  calls_per_second: count,
  call_burst: count.describe('Calls that may come at once after a pause.'),
  ping_interval_ms: count.describe('How often the server pings. One missed pong ends the connection.'),
});
export type ConnectionLimits = z.output<typeof connectionLimits>;

export const defaultConnectionLimits: ConnectionLimits = {
  max_frame_bytes: 4 * 1024 * 1024,
  max_batch: 50,
  max_json_depth: 64,
  max_json_values: 50_000,
  max_in_flight: 256,
  max_subscriptions: 256,
  calls_per_second: 1_000,
  call_burst: 2_000,
  ping_interval_ms: 20_000,
};

/** Why the server closes a connection, beyond RFC 6455's own 1002 and 1007. */
export const closeCodes = {
  unsupportedData: 1003,
  policyViolation: 1008,
  messageTooBig: 1009,
  internalError: 1011,
  serviceRestart: 1012,
  tryAgainLater: 1013,
} as const;
