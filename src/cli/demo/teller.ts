import { styleText } from 'node:util';
import type { CliIo } from '../io.ts';
import { printable } from '../printable.ts';
import { renderTable } from '../table.ts';

/** Tells the demo to somebody who watches, as it happens. */
export interface Teller {
  /** Begins a numbered part. */
  step(title: string): void;
  /** Begins a part of the summary. */
  heading(title: string): void;
  say(text: string): void;
  /** What something is or did, with its name before it. */
  fact(name: string, text: string): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  verdict(holds: boolean, text: string): void;
}

export function tellerFor({ stdout, environment }: Pick<CliIo, 'stdout' | 'environment'>): Teller {
  const isPlain = !stdout.isTerminal || environment.get('NO_COLOR') !== undefined;
  const styled = (style: 'bold' | 'green' | 'red', text: string): string =>
    isPlain ? text : styleText(style, text, { validateStream: false });
  const columns = Math.min(stdout.columns, mostColumns);
  const write = (text: string): void => {
    stdout.write(`${text}\n`);
  };
  const writeWrapped = (first: string, text: string, hang: number): void => {
    write(`${first}${wrapped(printable(text), columns - hang).join(`\n${' '.repeat(hang)}`)}`);
  };
  let steps = 0;
  return {
    step(title) {
      steps += 1;
      write(`\n${styled('bold', `${steps}. ${title}`)}`);
    },
    heading(title) {
      write(`\n${styled('bold', title)}`);
    },
    say(text) {
      writeWrapped(indent, text, indent.length);
    },
    fact(name, text) {
      const label = `${indent}${name.padEnd(nameColumns)}`;
      writeWrapped(label, text, label.length);
    },
    table(head, rows) {
      write(renderTable(head, rows, stdout.columns - indent.length).replace(/^/gm, indent));
    },
    verdict(holds, text) {
      const label = holds
        ? styled('green', 'ok'.padEnd(verdictColumns))
        : styled('red', 'FAILED'.padEnd(verdictColumns));
      writeWrapped(`${indent}${label}`, text, indent.length + verdictColumns);
    },
  };
}

const indent = '   ';
const nameColumns = 12;
const verdictColumns = 8;
/** Longer lines are hard to read. */
const mostColumns = 88;

/** Lines of at most so many characters where the words allow it. Line ends in the text stay. */
function wrapped(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    for (const word of paragraph.split(' ')) {
      const line = lines.at(-1);
      if (line === undefined || line.length + 1 + word.length > columns) lines.push(word);
      else lines[lines.length - 1] = `${line} ${word}`;
    }
    return lines;
  });
}

/** For `--json`: programs read the document at the end. */
export const silentTeller: Teller = {
  step: () => undefined,
  heading: () => undefined,
  say: () => undefined,
  fact: () => undefined,
  table: () => undefined,
  verdict: () => undefined,
};

/** The end of an id: ids made in one minute begin alike. */
export function shortId(id: string): string {
  return id.length <= 8 ? id : `…${id.slice(-8)}`;
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
