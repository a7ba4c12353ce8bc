import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerPrinter } from '../../../src/cli/answer-printer.ts';

describe('an answer that comes in pieces', () => {
  test('is written once, however its pieces overlap or repeat', () => {
    const { printer, written } = aPrinter();

    printer.piece(1, 0, 'Hel');
    printer.piece(1, 0, 'Hello');
    printer.piece(1, 2, 'llo');
    printer.piece(1, 5, '!');
    printer.whole('Hello!');

    expect(written()).toBe('Hello!\n');
  });

  test('counts bytes and not characters', () => {
    const { printer, written } = aPrinter();

    printer.piece(1, 0, 'é€');
    printer.piece(1, 5, '😀');
    printer.piece(1, 9, '.');
    printer.whole('é€😀.');

    expect(written()).toBe('é€😀.\n');
  });

  test('is held back after a gap, and comes as a whole at the end', () => {
    const { printer, written } = aPrinter();

    printer.piece(1, 0, 'one ');
    printer.piece(1, 8, 'three');
    expect(written()).toBe('one ');
    printer.whole('one two three');

    expect(written()).toBe('one two three\n');
  });

  test('has its steps apart', () => {
    const { printer, written } = aPrinter();

    printer.piece(1, 0, 'Let me look.');
    printer.piece(2, 0, 'Found it.');
    printer.piece(1, 12, ' late');
    printer.whole('Found it.');

    expect(written()).toBe('Let me look.\n\nFound it.\n');
  });

  test('that ends differently from its stream is written whole on a line of its own', () => {
    const { printer, written } = aPrinter();

    printer.piece(1, 0, 'Let me look.');
    printer.whole('The result.');

    expect(written()).toBe('Let me look.\nThe result.\n');
  });

  test('is over when it is over', () => {
    const { printer, written } = aPrinter();

    printer.piece(1, 0, 'a');
    printer.stop();
    printer.piece(1, 1, 'b');
    printer.whole('abc');

    expect(written()).toBe('a\n');
  });

  test('leaves nothing where nothing came', () => {
    const { printer, written } = aPrinter();

    printer.stop();

    expect(written()).toBe('');
  });

  test('always ends as the whole text, whichever pieces came', () => {
    const cut = fc.tuple(fc.nat(40), fc.nat(40));
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.array(cut), (text, cuts) => {
        const { printer, written } = aPrinter();
        for (const [from, length] of cuts) {
          const before = text.slice(0, from);
          printer.piece(1, Buffer.byteLength(before), text.slice(from, from + length));
        }
        printer.whole(text);
        expect(written()).toBe(text.endsWith('\n') ? text : `${text}\n`);
      }),
    );
  });
});

function aPrinter() {
  let text = '';
  const printer = new AnswerPrinter((more) => (text += more));
  return { printer, written: () => text };
}
