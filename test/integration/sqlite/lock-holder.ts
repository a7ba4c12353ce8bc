/* A process that takes the owner lock of a home folder, says how it went, and lives until its input ends. */
import { acquireOwnerLock } from '../../../src/adapters/outbound/sqlite/owner-lock.ts';

const lock = acquireOwnerLock(process.argv[2] ?? '');
console.log(lock.kind);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
