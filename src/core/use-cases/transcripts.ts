import type { SessionEvent } from '../domain/session/events.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Message } from '../domain/transcript/message.ts';
import type { Ledger } from '../ports/ledger.ts';

/** Reads the content of a tip's messages; what was read before is not read again. */
export interface Transcripts {
  /** The active messages of the state's tip, in order, with their content. */
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
  return { read, observe };

  function observe(sessionId: string, { lineage }: SessionState, events: readonly SessionEvent[]): void {
    const transcript = cached.get(sessionId);
    if (transcript?.tipId !== lineage.tipId) return;
    for (const event of events) {
      if (event.type !== 'message.appended' || !('text' in event.message)) continue;
      transcript.messages.set(event.message.id, event.message);
    }
  }

  async function read(state: SessionState): Promise<readonly Message[]> {
    const { sessionId, lineage } = state;
    const earlier = cached.get(sessionId);
    const transcript = earlier?.tipId === lineage.tipId ? earlier : newTranscript(lineage.tipId);
    const present = state.messages.findIndex(({ id }) => !transcript.messages.has(id));
    if (present >= 0) {
      const afterId = state.messages[present - 1]?.id ?? 0;
      for (const message of await deps.ledger.readTranscript(lineage.tipId, afterId)) {
        transcript.messages.set(message.id, message);
      }
    }
    keep(sessionId, transcript, state);
    return state.messages.flatMap(({ id }) => transcript.messages.get(id) ?? []);
  }

  function keep(sessionId: string, transcript: CachedTranscript, state: SessionState): void {
    const active = new Set(state.messages.map(({ id }) => id));
    for (const id of transcript.messages.keys()) if (!active.has(id)) transcript.messages.delete(id);
    transcript.characters = [...transcript.messages.values()].reduce((sum, message) => sum + charactersOf(message), 0);
    cached.delete(sessionId);
    cached.set(sessionId, transcript);
    let total = [...cached.values()].reduce((sum, { characters }) => sum + characters, 0);
    for (const [oldest, { characters }] of cached) {
      if (total <= deps.maxCharacters || oldest === sessionId) break;
      cached.delete(oldest);
      total -= characters;
    }
  }
}

interface CachedTranscript {
  readonly tipId: string;
  readonly messages: Map<number, Message>;
  characters: number;
}

function newTranscript(tipId: string): CachedTranscript {
  return { tipId, messages: new Map(), characters: 0 };
}

function charactersOf(message: Message): number {
  const parts =
    message.parts?.reduce((sum, part) => sum + ('data' in part ? part.data.length : part.text.length), 0) ?? 0;
  const calls = message.toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
  return message.text.length + parts + calls;
}
