/*
 * The owner's row as the database file alone has it, without the log beside it. SQLite always shows both together, so
 * the row is read from its page, after https://sqlite.org/fileformat2.html: sections 1.6 (pages) and 2.1 (records).
 */
import { closeSync, openSync, readSync } from 'node:fs';

/** Where the one row of `runtime_epoch` lies: the root page of a table with one row is a leaf that never splits. */
export interface EpochPage {
  readonly pageNumber: number;
  readonly pageBytes: number;
  /** The place of the column `commits` among the table's columns, from 0. */
  readonly column: number;
}

/**
 * The number of the newest commit in the file alone. Null where the page says nothing: it was never written, or a crash
 * has torn it, which is no harm as long as the log has it whole.
 *
 * It must not be called while this process has the database open: closing a file drops all its locks on it.
 */
export function readCommitsInFile(path: string, { pageNumber, pageBytes, column }: EpochPage): number | null {
  const page = Buffer.alloc(pageBytes);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, page, 0, pageBytes, (pageNumber - 1) * pageBytes) < pageBytes) return null;
  } finally {
    closeSync(file);
  }
  try {
    return integerInFirstRow(page, column);
  } catch (error) {
    if (error instanceof RangeError) return null; // a length or an offset that points out of the page
    throw error;
  }
}

const leafOfTable = 0x0d;

function integerInFirstRow(page: Buffer, column: number): number | null {
  if (page.readUInt8(0) !== leafOfTable || page.readUInt16BE(3) !== 1) return null;
  const cell = page.readUInt16BE(8);
  const payloadLength = readVarint(page, cell);
  const rowId = readVarint(page, payloadLength.end);
  const record = rowId.end;
  const headerLength = readVarint(page, record);
  const headerEnd = record + headerLength.value;
  let type = { value: 0, end: headerLength.end };
  let value = headerEnd;
  for (let index = 0; type.end < headerEnd; index += 1) {
    type = readVarint(page, type.end);
    if (index === column) return readInteger(page, value, type.value);
    value += lengthOf(type.value);
  }
  return null; // the row is older than the column
}

/** The lengths of the serial types 0 to 9; 8 and 9 are the numbers 0 and 1 themselves. */
const integerLengths = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

function lengthOf(type: number): number {
  return integerLengths[type] ?? Math.floor((type - 12) / 2);
}

function readInteger(page: Buffer, offset: number, type: number): number | null {
  if (type === 8 || type === 9) return type - 8;
  if (type === 6) return Number(page.readBigInt64BE(offset));
  return type >= 1 && type <= 5 ? page.readIntBE(offset, lengthOf(type)) : null;
}

function readVarint(page: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let offset = start; offset < start + 8; offset += 1) {
    const byte = page.readUInt8(offset);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: offset + 1 };
  }
  throw new RangeError('A number of nine bytes is larger than anything in this row');
}
