const maxLetters = 100;

/**
 * The candidate that a misspelt name was most probably meant to be, or null where none is near enough. Case and the
 * choice of `-` or `_` don't count; two neighbours in the wrong order count as one error, and so does a missing end.
 * A name of more than 100 letters, which may be hostile, is compared with nothing.
 */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  if (name.length > maxLetters) return null;
  const wanted = folded(name);
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = distanceOf(wanted, folded(candidate));
    if (distance <= allowed && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

function distanceOf(wanted: string, candidate: string): number {
  const distance = editDistance(wanted, candidate);
  const isBeginning = wanted.length >= 4 && (candidate.startsWith(wanted) || wanted.startsWith(candidate));
  return isBeginning ? Math.min(distance, 1) : distance;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one text into the other. */
function editDistance(a: string, b: string): number {
  const width = b.length + 1;
  const cells = Array.from({ length: (a.length + 1) * width }, (_, index) =>
    index < width ? index : index % width === 0 ? index / width : 0,
  );
  const at = (row: number, column: number): number => cells[row * width + column] ?? Infinity;
  for (let row = 1; row <= a.length; row += 1) {
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      cells[row * width + column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(a.length, b.length);
}
