#!/usr/bin/env node
import { processIo } from './io.ts';
import { run } from './run.ts';

/** The command line's entry. Everything that isn't needed by every command is imported by the one that needs it. */
process.exitCode = await run(process.argv.slice(2), processIo());

// A command has nothing left to do now, and all that it wrote has left. What still holds the process, such as a socket that closes slowly, gets a moment.
setTimeout(() => process.exit(), 1_000).unref();
