/*
 * Makes a failing history smaller while it fails in the same way: commands, crash positions, faults and picks are
 * separate lists, and each shrinks for itself.
 */
import type { Chances } from '../world/decisions.ts';
import { Random } from '../world/random.ts';
import type { History } from './history.ts';

/**
 * Plays a history, with `redraw` in another order of its tasks. Answers the history as it was played when it fails in
 * the way that is looked for, else null.
 */
export type PlayAgain = (history: History, redraw: Random | null) => Promise<History | null>;

export async function shrink(failing: History, playAgain: PlayAgain, budgetMs: number): Promise<History> {
  const endAt = performance.now() + budgetMs;
  const random = new Random(1);
  let best = failing;
  const attempt: Attempt = async (candidate, redraws = 0) => {
    for (let round = 0; round <= redraws; round += 1) {
      if (performance.now() > endAt || minimalSizeOf(candidate) >= sizeOf(best)) return false;
      const played = await playAgain(candidate, round === 0 ? null : random);
      if (played === null || sizeOf(played) >= sizeOf(best)) continue;
      best = played;
      return true;
    }
    return false;
  };
  for (let before = Infinity; sizeOf(best) < before && performance.now() < endAt;) {
    before = sizeOf(best);
    await shortenPicks(() => best, attempt);
    await dropCommands(() => best, attempt);
    await dropBlows(() => best, attempt);
    await dropFaults(() => best, attempt);
    await moveBlows(() => best, attempt);
    await calmPicks(() => best, attempt);
  }
  return best;
}

/** Tries a candidate, and so many other orders of it, and keeps what is smaller and fails as the best. */
type Attempt = (candidate: History, redraws?: number) => Promise<boolean>;

/** How often another order is tried when the written one doesn't fail any more. */
const redrawsEach = 8;

/** What a reader has to understand: commands and blows weigh most. */
function sizeOf(history: History): number {
  const { picks } = history.chances;
  const unusual = picks.reduce((sum, pick) => sum + (pick === 0 ? 0 : 1 + pick / 1000), 0);
  return minimalSizeOf(history) + mostForPicks * (unusual / (unusual + 20)) + picks.length / (picks.length + 1000);
}

/** Whatever the order is, it counts for less than a command. */
const mostForPicks = 18;

/** The size in the calmest order. */
function minimalSizeOf({ commands, chances }: History): number {
  const blowSteps = chances.blows.reduce((sum, { step }) => sum + step / 10_000, 0);
  return commands.length * 20 + chances.blows.length * 20 + blowSteps + Object.keys(chances.faults).length * 20;
}

function withChances(history: History, chances: Partial<Chances>): History {
  return { ...history, chances: { ...history.chances, ...chances } };
}

async function shortenPicks(best: () => History, attempt: Attempt): Promise<void> {
  for (let cut = best().chances.picks.length; cut >= 1; cut = Math.floor(cut / 2)) {
    for (;;) {
      const { picks } = best().chances;
      if (picks.length < cut || !(await attempt(withChances(best(), { picks: picks.slice(0, -cut) })))) break;
    }
  }
}

async function dropBlows(best: () => History, attempt: Attempt): Promise<void> {
  for (let index = best().chances.blows.length - 1; index >= 0; index -= 1) {
    const { blows } = best().chances;
    await attempt(withChances(best(), { blows: blows.toSpliced(index, 1) }), redrawsEach);
  }
}

/** A crash that comes earlier leaves less to read, and follows its place when commands before it are dropped. */
async function moveBlows(best: () => History, attempt: Attempt): Promise<void> {
  for (let index = 0; index < best().chances.blows.length; index += 1) {
    for (const by of [100, 40, 15, 6, 2, 1]) {
      const { blows } = best().chances;
      const blow = blows[index];
      if (blow === undefined || blow.step <= by) continue;
      await attempt(withChances(best(), { blows: blows.with(index, { ...blow, step: blow.step - by }) }));
    }
  }
}

async function dropFaults(best: () => History, attempt: Attempt): Promise<void> {
  const names = Object.keys(best().chances.faults);
  await inChunks(names.length, async (from, to) => {
    const dropped = new Set(names.slice(from, to));
    const left = Object.entries(best().chances.faults).filter(([name]) => !dropped.has(name));
    return attempt(withChances(best(), { faults: Object.fromEntries(left) }), redrawsEach);
  });
}

/** Without a command everything after it happens earlier: the crashes are moved with it. */
async function dropCommands(best: () => History, attempt: Attempt): Promise<void> {
  await inChunks(best().commands.length, async (from, to) => {
    const { commands, chances } = best();
    const shorter = { ...best(), commands: commands.toSpliced(from, to - from) };
    if (shorter.commands.length === commands.length) return false;
    for (const by of chances.blows.length === 0 ? [0] : [0, 2, 5, 10, 20]) {
      const blows = chances.blows.map((blow) => ({ ...blow, step: Math.max(1, blow.step - by * (to - from)) }));
      if (await attempt(withChances(shorter, { blows }), redrawsEach)) return true;
    }
    return false;
  });
}

async function calmPicks(best: () => History, attempt: Attempt): Promise<void> {
  await inChunks(best().chances.picks.length, async (from, to) => {
    const { picks } = best().chances;
    if (!picks.slice(from, to).some((pick) => pick !== 0)) return false;
    return attempt(
      withChances(best(), { picks: picks.map((pick, index) => (index >= from && index < to ? 0 : pick)) }),
    );
  });
}

/** Half of the list at once, then quarters, and so on; from the end, so that indexes stay valid. */
async function inChunks(length: number, tryChunk: (from: number, to: number) => Promise<boolean>): Promise<void> {
  for (let size = Math.max(1, Math.floor(length / 2)); size >= 1; size = Math.floor(size / 2)) {
    for (let to = length; to > 0; to -= size) await tryChunk(Math.max(0, to - size), to);
  }
}
