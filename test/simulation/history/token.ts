import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { WrittenDecisions } from '../world/decisions.ts';
import type { Random } from '../world/random.ts';
import { drawHistory } from './history.ts';
import { calmSettings } from './settings.ts';
import type { Draft, History } from './history.ts';

/** What `--replay` takes: `s<seed>` for a history that is drawn again, `h<…>` for one that is written down. */
export function seedToken(seed: number): string {
  return `s${seed}`;
}

export function historyToken(history: History): string {
  return `h${deflateRawSync(JSON.stringify(history)).toString('base64url')}`;
}

export function draftOfToken(token: string): Draft {
  if (token.startsWith('s')) return drawHistory(Number(token.slice(1)));
  if (!token.startsWith('h')) throw new Error('A token begins with s or h');
  const text = inflateRawSync(Buffer.from(token.slice(1), 'base64url')).toString();
  return draftOf(JSON.parse(text) as History); // `historyToken` wrote it
}

/** A history to be played again as it is written down; with `redraw` its tasks are picked in another order. */
export function draftOf({ settings, commands, chances }: History, redraw: Random | null = null): Draft {
  return { settings: { ...calmSettings, ...settings }, commands, decisions: new WrittenDecisions(chances, redraw) };
}
