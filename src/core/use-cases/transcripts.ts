import type { SessionEvent } from '../domain/session/events.ts';
import type { SessionState } from '../domain/session/state.ts';
import { charactersOf } from '../domain/transcript/content-page.ts';
import type { Message } from '../domain/transcript/message.ts';
import { StorageError } from '../ports/ledger.ts';
import type { Ledger } from '../ports/ledger.ts';

/** Reads the content of a tip's messages; what was read before is not read again. */
export interface Transcripts {
  /**
   * The active messages of the state's tip, in order, with their content. Throws `StorageError` where the storage
   * doesn't hold all of them: it is damaged, or somebody has compressed the transcript since the state was read. That
   * also holds where it changes between two pages: the state says which messages there are, and no page does.
   */
  read(state: SessionState): Promise<readonly Message[]>;
  /** Keeps what a commit has added to a transcript that is in use. */
  readonly observe: (sessionId: string, state: SessionState, events: readonly SessionEvent[]) => void;
}

/**
 * Keeps the content of the transcripts that are in use, up to `maxCharacters` of text; the least recently used session
 * goes first. A message never changes once it is stored, so nothing here can be out of date.
 */
export function makeTranscripts(deps: {
  readonly ledger: Pick<Ledger, 'readTranscript'>;
  readonly maxCharacters: number;
}): Transcripts {
  const cached = new Map<string, CachedTranscript>();
  let total = 0;
  return { read, observe };

  function observe(sessionId: string, { lineage }: SessionState, events: readonly SessionEvent[]): void {
    const transcript = cached.get(sessionId);
    if (transcript?.tipId !== lineage.tipId) return;
    for (const event of events) {
      if (event.type !== 'message.appended' || !('text' in event.message)) continue;
      const { message } = event;
      if (transcript.messages.has(message.id)) continue;
      const characters = charactersOf(message);
      transcript.messages.set(message.id, message);
      transcript.characters += characters;
      total += characters;
    }
  }

  async function read(state: SessionState): Promise<readonly Message[]> {
    const { sessionId, lineage } = state;
    const earlier = cached.get(sessionId);
    const current = earlier?.tipId === lineage.tipId ? earlier : null;
    const missing = state.messages.findIndex(({ id }) => current?.messages.has(id) !== true);
    // The rule, at every step of a turn: nothing is read and nothing is made anew.
    if (current !== null && missing < 0 && current.messages.size === state.messages.length) {
      keep(sessionId, current);
      return contentOf(state, current.messages);
    }
    // A copy: another read may change what is cached while this one waits.
    const known = new Map(current?.messages);
    if (missing >= 0) await readInto(known, state, state.messages[missing - 1]?.id ?? 0);
    const messages = contentOf(state, known);
    keep(sessionId, {
      tipId: lineage.tipId,
      messages: new Map(messages.map((message) => [message.id, message])),
      characters: messages.reduce((sum, message) => sum + charactersOf(message), 0),
    });
    return messages;
  }

  /** Page by page, until the last message of the state or the end of what is stored. */
  async function readInto(
    known: Map<number, Message>,
    { messages, lineage }: SessionState,
    afterId: number,
  ): Promise<void> {
    const lastId = messages.at(-1)?.id ?? 0;
    for (let id = afterId; id < lastId;) {
      const page = await deps.ledger.readTranscript(lineage.tipId, id);
      for (const message of page) known.set(message.id, message);
      id = page.at(-1)?.id ?? lastId;
    }
  }

  /** As the most recently used one; others go while it is too much altogether. */
  function keep(sessionId: string, transcript: CachedTranscript): void {
    forget(sessionId);
    cached.set(sessionId, transcript);
    total += transcript.characters;
    for (const oldest of cached.keys()) {
      if (total <= deps.maxCharacters || oldest === sessionId) break;
      forget(oldest);
    }
  }

  function forget(sessionId: string): void {
    total -= cached.get(sessionId)?.characters ?? 0;
    cached.delete(sessionId);
  }
}

interface CachedTranscript {
  readonly tipId: string;
  readonly messages: Map<number, Message>;
  characters: number;
}

function contentOf(state: SessionState, known: ReadonlyMap<number, Message>): readonly Message[] {
  return state.messages.map(({ id }) => known.get(id) ?? notThere(id, state));
}

/** What is left of a transcript is never sent in its place. */
function notThere(id: number, { lineage }: SessionState): never {
  const place = `Message ${String(id)} of the transcript ${lineage.tipId}`;
  throw new StorageError('corrupt', `${place} is not there, or another owner has compressed it`);
}
