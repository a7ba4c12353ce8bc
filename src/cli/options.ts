import { InvalidArgumentError, Option } from 'commander';
import type { AddressOptions } from './gateway-address.ts';

/* The options that more than one command has, and how their values are read. */

export interface HomeOptions {
  readonly home?: string;
  readonly json?: boolean;
}

export type RemoteOptions = HomeOptions & AddressOptions;

export interface WaitOptions {
  /** Seconds. */
  readonly reconnect: number;
}

export function homeOptions(): readonly Option[] {
  return [homeOption(), jsonOption()];
}

export function homeOption(): Option {
  return new Option(
    '--home <folder>',
    "the home folder (default: HOLDFAST_HOME, else the platform's data folder)",
  ).argParser(readFolder);
}

export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document on stdout, and errors as JSON on stderr');
}

export function remoteOptions(): readonly Option[] {
  return [
    ...homeOptions(),
    new Option('--url <address>', 'the address of a gateway (default: HOLDFAST_URL, else that of the home folder)'),
    new Option('--token <token>', 'its token; other users of this machine can see it, HOLDFAST_TOKEN they cannot'),
  ];
}

export function reconnectOption(): Option {
  return new Option('--reconnect <seconds>', 'how long to look for the gateway again when it is lost while waiting')
    .default(15)
    .argParser(readSeconds);
}

/** An empty one, as an unset variable of a script leaves it, would mean the current folder. */
function readFolder(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

export function readSeconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('Not a number of seconds.');
  }
  return value;
}

export function readGeneration(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Not the number of an execution generation.');
  return Number(text);
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Not a whole number greater than 0.');
  return Number(text);
}
