import { printableLine } from './printable.ts';

/** Columns that line up, for people. The last column takes what is left of the line. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === head.length - 1
          ? printableLine(cell, Math.max(columns - before, 10))
          : padded(cell, widths[column] ?? 0),
      )
      .join(gap)
      .trimEnd();
  return [line(head), ...rows.map(line)].join('\n');
}

const gap = '  ';

function padded(cell: string, width: number): string {
  const line = printableLine(cell, width);
  return line + ' '.repeat(width - [...line].length);
}
