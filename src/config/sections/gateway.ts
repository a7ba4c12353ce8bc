import { z } from 'zod';
import { count, seconds } from './values.ts';

const kib = 1_024;
const mib = 1_024 * kib;

const origin = z.string().superRefine((text, context) => {
  if (URL.canParse(text) && new URL(text).origin === text) return;
  context.addIssue({ code: 'custom', message: 'must be an origin such as https://app.example.org, without a path' });
});

const hostName = z
  .string()
  .regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/, 'must be a host name, with or without a port');

export const gatewaySection = z
  .strictObject({
    host: z
      .string()
      .regex(/^([A-Za-z0-9._-]+|[0-9A-Fa-f:.]+)$/, 'must be an IP address or a host name, without a port')
      .default('127.0.0.1')
      .describe(
        'The address to listen at. Any other than loopback is open to the network, and the gateway warns of it.',
      ),
    port: count(0, 0, 65_535).describe('The port to listen at. 0: the last one if it is free, else any.'),
    allowed_origins: z
      .array(origin)
      .default([])
      .describe('Web pages that may connect, as origins. Clients that are no browsers send none and need none.'),
    allowed_hosts: z
      .array(hostName)
      .default([])
      .describe('`Host` headers that are accepted besides the address that is listened at and the names of loopback.'),
    multiplex_profiles: z
      .literal(false)
      .default(false)
      .describe('Several homes in one process. Not supported: only `false` is accepted.'),
    max_frame_bytes: count(4 * mib, kib, 256 * mib).describe('The largest frame that a client may send.'),
    max_batch: count(50, 1, 10_000).describe('The most calls in one JSON-RPC batch.'),
    max_json_depth: count(64, 4, 1_000).describe('The deepest nesting of a message.'),
    max_json_values: count(50_000, 100, 10_000_000).describe('The most values in one frame.'),
    max_queued_per_session: count(100, 1, 100_000).describe('The most prompts that wait in one session.'),
    max_concurrent_turns: count(16, 1, 10_000).describe('The most turns that run at once; further sessions wait.'),
    max_connections: count(200, 1, 100_000).describe('The most sockets at once.'),
    max_subscriptions: count(256, 1, 10_000).describe('The most sessions that one socket follows at once.'),
    max_backlog_bytes: count(8 * mib, 64 * kib, 1_024 * mib).describe(
      'The most bytes that wait for one slow socket. Beyond it live events are dropped, and a subscription ends with `subscription.gap`.',
    ),
    max_calls_in_flight: count(256, 1, 10_000).describe('The most unanswered calls of one socket.'),
    max_calls_per_second: count(500, 1, 1_000_000).describe('The steady rate of calls of one socket.'),
    max_call_burst: count(1_000, 1, 1_000_000).describe('The calls of one socket that may come at once after a pause.'),
    max_auth_failures_per_minute: count(10, 1, 100_000).describe(
      'The most refused connections from one address in a minute. Beyond it the address is refused unheard.',
    ),
    ping_seconds: seconds(20, 1, 3_600).describe('How often a socket is pinged. One that has missed a ping is closed.'),
  })
  .prefault({})
  .describe('The socket that clients connect to, and its limits.');
