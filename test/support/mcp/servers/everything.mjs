/** The reference server of the protocol's authors, with a lifeline. Over HTTP it tells the port that it got. */
import { Server } from 'node:net';
import { holdLifeline } from './lifeline.mjs';

const lifeline = holdLifeline('server');
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => lifeline.tell(`port ${this.address().port}`));
  return listen.apply(this, args);
};
await import('@modelcontextprotocol/server-everything/dist/index.js');
