#!/usr/bin/env node
/*
 * The command `holdfast`. It is no part of the build: npm links it once, and a build would take away the file that the
 * link is to, with its permission to run.
 */
import { existsSync } from 'node:fs';

const entry = new URL('../dist/cli/main.js', import.meta.url);

if (existsSync(entry)) {
  await import(entry.href);
} else {
  console.error('Holdfast is not built yet. Build it with: npm run build');
  process.exitCode = 1;
}
