import { describe, expect, test } from 'vitest';
import type { Message } from '../../../../src/core/domain/transcript/message.ts';
import { metaOf } from '../../../../src/core/domain/transcript/message.ts';
import { sessionEvent } from '../../../../src/core/domain/session/decision.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import type { SessionState } from '../../../../src/core/domain/session/state.ts';
import type { Ledger } from '../../../../src/core/ports/ledger.ts';
import { makeTranscripts } from '../../../../src/core/use-cases/transcripts.ts';
import { aMessage } from '../../../support/builders.ts';
import { stateAfter } from '../../../support/given.ts';
import { created } from '../../../support/history.ts';

/** Transcripts that a test writes, and every read of them. */
function aLibrary(maxCharacters = 1_000_000, pageSize = Infinity) {
  const shelves = new Map<string, readonly Message[]>();
  const reads: (readonly [string, number])[] = [];
  const readTranscript: Ledger['readTranscript'] = async (transcriptId, afterId) => {
    reads.push([transcriptId, afterId]);
    return (shelves.get(transcriptId) ?? []).filter(({ id }) => id > afterId).slice(0, pageSize);
  };
  const transcripts = makeTranscripts({ ledger: { readTranscript }, maxCharacters }); // it reads nothing else
  const write = (transcriptId: string, ...messages: readonly Message[]): void =>
    void shelves.set(transcriptId, messages);
  return { transcripts, reads, write };
}

const empty = stateAfter(created());

function stateOf(transcriptId: string, messages: readonly Message[], sessionId = 'session-1'): SessionState {
  return { ...empty, sessionId, lineage: { ...empty.lineage, tipId: transcriptId }, messages: messages.map(metaOf) };
}

function committed(message: Message): SessionEvent {
  return {
    ...sessionEvent({
      type: 'message.appended',
      message,
      boundary: null,
      step: 1,
      contextTokens: null,
      answeredBy: null,
    }),
    ...{ sessionId: 'session-1', seq: message.id, at: '2030-01-01T00:00:00.000Z', epoch: 1 },
  };
}

const [one, two, three] = [1, 2, 3].map((id) => aMessage({ id, text: `text ${String(id)}` })) as [
  Message,
  Message,
  Message,
]; // three

describe('the content of a transcript', () => {
  test('is what the state names, in its order', async () => {
    const { transcripts, write } = aLibrary();
    write('t', one, two, three);

    expect(await transcripts.read(stateOf('t', [one, three]))).toEqual([one, three]);
  });

  test('is read once', async () => {
    const { transcripts, reads, write } = aLibrary();
    write('t', one, two);
    await transcripts.read(stateOf('t', [one, two]));

    await transcripts.read(stateOf('t', [one, two]));

    expect(reads).toEqual([['t', 0]]);
  });

  test('is not read where its commit was seen, unless nobody uses it', async () => {
    const { transcripts, reads, write } = aLibrary();
    transcripts.observe('session-1', stateOf('t', [one]), [committed(one)]);
    write('t', one, two);
    await transcripts.read(stateOf('t', [one, two]));

    transcripts.observe('session-1', stateOf('t', [one, two, three]), [committed(three)]);
    transcripts.observe('session-1', stateOf('another', [one]), [committed(aMessage({ id: 4 }))]);

    expect(await transcripts.read(stateOf('t', [one, two, three]))).toEqual([one, two, three]);
    expect(reads).toEqual([['t', 0]]);
  });

  test('is read from where it has grown', async () => {
    const { transcripts, reads, write } = aLibrary();
    write('t', one, two);
    await transcripts.read(stateOf('t', [one, two]));
    write('t', one, two, three);

    expect(await transcripts.read(stateOf('t', [one, two, three]))).toEqual([one, two, three]);
    expect(reads).toEqual([
      ['t', 0],
      ['t', 2],
    ]);
  });

  test('is put together from its pages, and nothing is read behind the last message', async () => {
    const { transcripts, reads, write } = aLibrary(1_000_000, 1);
    write('t', one, two, three);

    expect(await transcripts.read(stateOf('t', [one, two]))).toEqual([one, two]);
    expect(reads).toEqual([
      ['t', 0],
      ['t', 1],
    ]);
  });

  test('is read anew after a rotation', async () => {
    const { transcripts, reads, write } = aLibrary();
    write('t', one, two);
    write('child', three);
    await transcripts.read(stateOf('t', [one, two]));

    expect(await transcripts.read(stateOf('child', [three]))).toEqual([three]);
    expect(reads.at(-1)).toEqual(['child', 0]);
  });

  test('of an empty transcript is nothing, without a read', async () => {
    const { transcripts, reads } = aLibrary();

    expect(await transcripts.read(stateOf('t', []))).toEqual([]);
    expect(reads).toEqual([]);
  });

  test('loses what was compressed away in place', async () => {
    const { transcripts, write } = aLibrary();
    write('t', one, two);
    await transcripts.read(stateOf('t', [one, two]));
    write('t', one, three);

    expect(await transcripts.read(stateOf('t', [one, three]))).toEqual([one, three]);
  });
});

describe('a transcript that is not what the state says', () => {
  test('is never read in part', async () => {
    const { transcripts, write } = aLibrary();
    write('t', one, three);

    await expect(transcripts.read(stateOf('t', [one, two, three]))).rejects.toThrow(/Message 2 of the transcript t/u);
  });

  test('is never read in part where it changes between two pages, or ends there', async () => {
    const { transcripts, reads, write } = aLibrary(1_000_000, 1);
    write('t', one, two, three);
    const changed = transcripts.read(stateOf('t', [one, two, three]));
    expect(reads).toEqual([['t', 0]]);
    write('t', aMessage({ id: 4 }), aMessage({ id: 5 }));

    await expect(changed).rejects.toThrow(/Message 2 of the transcript t/u);
    write('t', one, two);
    await expect(transcripts.read(stateOf('t', [one, two, three]))).rejects.toThrow(/Message 3 of the transcript t/u);
  });

  test('does not spoil another read that waits meanwhile', async () => {
    const { transcripts, write } = aLibrary();
    write('t', one, two, three);
    await transcripts.read(stateOf('t', [one, two]));

    const whole = transcripts.read(stateOf('t', [one, two, three]));
    const older = transcripts.read(stateOf('t', [one]));

    expect(await older).toEqual([one]);
    expect(await whole).toEqual([one, two, three]);
  });
});

describe('what is kept', () => {
  const large = (id: number) => aMessage({ id, text: 'x'.repeat(100) });

  test('is bounded: the least recently used session goes first', async () => {
    const { transcripts, reads, write } = aLibrary(250);
    for (const session of ['a', 'b', 'c']) write(session, large(1));
    for (const session of ['a', 'b', 'a', 'c']) await transcripts.read(stateOf(session, [large(1)], session));
    reads.length = 0;

    await transcripts.read(stateOf('a', [large(1)], 'a'));
    await transcripts.read(stateOf('c', [large(1)], 'c'));
    expect(reads).toEqual([]);
    await transcripts.read(stateOf('b', [large(1)], 'b'));
    expect(reads).toEqual([['b', 0]]);
  });

  test('counts what commits have added, each message once', async () => {
    const { transcripts, reads, write } = aLibrary(350);
    write('t', large(1));
    write('b', large(1));
    await transcripts.read(stateOf('b', [large(1)], 'b'));
    await transcripts.read(stateOf('t', [large(1)]));
    for (const message of [large(1), large(2), large(2)]) {
      transcripts.observe('session-1', stateOf('t', [message]), [committed(message)]);
    }
    await transcripts.read(stateOf('t', [large(1), large(2)]));
    reads.length = 0;

    await transcripts.read(stateOf('b', [large(1)], 'b'));
    expect(reads).toEqual([]);

    transcripts.observe('session-1', stateOf('t', [large(3)]), [committed(large(3))]);
    await transcripts.read(stateOf('t', [large(1), large(2), large(3)]));
    await transcripts.read(stateOf('b', [large(1)], 'b'));
    expect(reads).toEqual([['b', 0]]);
  });

  test('always holds the transcript in use, even one that is too large', async () => {
    const { transcripts, write } = aLibrary(50);
    write('t', large(1), large(2));

    expect(await transcripts.read(stateOf('t', [large(1), large(2)]))).toHaveLength(2);
  });

  test('counts parts and arguments too', async () => {
    const { transcripts, reads, write } = aLibrary(150);
    const image = aMessage({
      id: 1,
      text: '',
      parts: [{ type: 'image', mediaType: 'image/png', data: 'x'.repeat(100) }],
    });
    const call = aMessage({ id: 1, text: '', toolCalls: [{ id: 'a', name: 'n', arguments: 'x'.repeat(100) }] });
    write('a', image);
    write('b', call);
    await transcripts.read(stateOf('a', [image], 'a'));
    await transcripts.read(stateOf('b', [call], 'b'));
    reads.length = 0;

    await transcripts.read(stateOf('a', [image], 'a'));

    expect(reads).toEqual([['a', 0]]);
  });
});
