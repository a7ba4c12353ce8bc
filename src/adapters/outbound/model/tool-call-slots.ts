/*
 * Puts the pieces of streamed tool calls together, also where a server numbers them wrongly or not at all. The SDK's own
 * tracker drops pieces that it finds ambiguous; a lost piece of an argument is worse than any guess.
 *
 * T1: a new id opens a call, although its index repeats. A piece that brings no name and finds its index's call
 *     unfinished goes on with that call, although its id changes with every piece.
 * T2: without an id, another name opens a call, and the same name does when the call before it is complete.
 * T3: a piece without id, name and index goes on with the call that was touched last.
 * T4: an id is used once. A repeated or missing one is replaced, so that every later request can pair its results.
 * T5: a piece that repeats a whole call, id and all, is a frame that came twice: no tool runs twice for it.
 */
import type { ProviderMetadata, ToolCall } from '../../../core/domain/transcript/message.ts';
import { isRecord } from './error-facts.ts';

interface Slot {
  index: number | null;
  id: string;
  name: string;
  arguments: string;
  thoughtSignature: string | null;
}

interface Piece {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly thoughtSignature: string | null;
}

export class ToolCallSlots {
  readonly #slots: Slot[] = [];
  #last: Slot | null = null;

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  /** Takes one element of `delta.tool_calls` and says how many characters it brought. */
  take(delta: unknown): number {
    if (!isRecord(delta)) return 0;
    const piece = pieceOf(delta);
    if (this.#slots.some((slot) => isRepeated(slot, piece))) return 0;
    const slot = this.#slotFor(piece) ?? this.#open(piece);
    if (slot.id === '') slot.id = piece.id;
    if (slot.name === '') slot.name = piece.name;
    slot.index ??= piece.index;
    slot.arguments += piece.arguments;
    slot.thoughtSignature ??= piece.thoughtSignature;
    this.#last = slot;
    return piece.arguments.length + piece.name.length;
  }

  /** The calls in the order in which they began; null when one has no name and so can't be answered. */
  calls(takenIds: ReadonlySet<string>, newId: () => string): readonly ToolCall[] | null {
    const used = new Set(takenIds);
    const calls: ToolCall[] = [];
    for (const slot of this.#slots) {
      if (slot.name === '') return null;
      const id = slot.id === '' || used.has(slot.id) ? newId() : slot.id;
      used.add(id);
      calls.push({ id, name: slot.name, arguments: slot.arguments, ...metadataOf(slot) });
    }
    return calls;
  }

  #open(piece: Piece): Slot {
    const slot: Slot = { index: piece.index, id: '', name: '', arguments: '', thoughtSignature: null };
    this.#slots.push(slot);
    return slot;
  }

  #slotFor(piece: Piece): Slot | null {
    const candidate = this.#candidate(piece);
    return candidate === null || this.#opensAnother(piece, candidate) ? null : candidate;
  }

  /** The call that the piece would go on with. */
  #candidate(piece: Piece): Slot | null {
    const byId =
      piece.id === '' ? undefined : this.#slots.findLast((slot) => slot.id === piece.id && sameIndex(slot, piece));
    if (byId !== undefined) return byId;
    if (piece.index !== null)
      return this.#slots.findLast((slot) => slot.index === piece.index) ?? this.#unnumbered(piece);
    return this.#last;
  }

  /** The first pieces of a call came without the number that the later ones have. */
  #unnumbered(piece: Piece): Slot | null {
    const last = this.#last;
    return last !== null && last.index === null && piece.name === '' && piece.id === '' ? last : null;
  }

  #opensAnother(piece: Piece, slot: Slot): boolean {
    const isNewId = piece.id !== '' && slot.id !== '' && piece.id !== slot.id;
    if (piece.name === '') return isNewId && isWholeJson(slot.arguments);
    if (isNewId) return true;
    if (slot.name === '') return false;
    return piece.name !== slot.name || (isWholeJson(slot.arguments) && /^\s*\{/.test(piece.arguments));
  }
}

function sameIndex(slot: Slot, piece: Piece): boolean {
  return piece.index === null || slot.index === null || slot.index === piece.index;
}

function isRepeated(slot: Slot, piece: Piece): boolean {
  return (
    piece.id !== '' &&
    piece.id === slot.id &&
    piece.index === slot.index &&
    piece.name !== '' &&
    piece.name === slot.name &&
    piece.arguments === slot.arguments &&
    isWholeJson(slot.arguments)
  );
}

function pieceOf(delta: Readonly<Record<string, unknown>>): Piece {
  const call = isRecord(delta['function']) ? delta['function'] : {};
  const given = call['arguments'];
  return {
    index: typeof delta['index'] === 'number' ? delta['index'] : null,
    id: textOf(delta['id']),
    name: textOf(call['name']),
    // Some servers send the arguments as an object instead of its text.
    arguments: typeof given === 'string' ? given : isRecord(given) ? JSON.stringify(given) : '',
    thoughtSignature: thoughtSignatureOf(delta),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** Gemini behind an OpenAI-compatible address wants this back with the call. */
function thoughtSignatureOf(delta: Readonly<Record<string, unknown>>): string | null {
  const extra = delta['extra_content'];
  const google = isRecord(extra) ? extra['google'] : undefined;
  const signature = isRecord(google) ? google['thought_signature'] : undefined;
  return typeof signature === 'string' && signature !== '' ? signature : null;
}

function metadataOf(slot: Slot): { readonly providerMetadata?: ProviderMetadata } {
  return slot.thoughtSignature === null
    ? {}
    : { providerMetadata: { google: { thoughtSignature: slot.thoughtSignature } } };
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
