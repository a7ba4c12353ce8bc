/**
 * The servers' side of the lifeline: a connection to the test for as long as this process lives. The test learns what
 * happens here, and, when the kernel closes the connection, that the process is gone.
 */
import { connect } from 'node:net';

export function holdLifeline(label, path = process.env.LIFELINE) {
  if (path === undefined) return { tell: () => undefined };
  const socket = connect(path);
  socket.unref();
  socket.on('error', () => undefined);
  socket.write(`${label}\n`);
  return { tell: (event) => void socket.write(`${event}\n`) };
}
