/*
 * The body of a good answer (HTTP 200), from its bytes to chunks that the SDK can read.
 *
 * A1: whatever is wrong is taken down in the exchange and ends the stream; nothing is thrown into the SDK.
 * A2: what was sent before a fault is passed on first.
 * A3: after the finish reason the answer is whole: a broken or silent tail ends it normally.
 */
import { beginningOf } from '../../../core/domain/transcript/cut-text.ts';
import { classifyFailure } from './classify-failure.ts';
import type { Exchange } from './exchange.ts';
import { errorCode } from './network-failure.ts';
import { masked } from './operator-message.ts';
import { FrameTooLong, SseParser, frameContent } from './sse-frames.ts';
import type { SseEvent } from './sse-frames.ts';
import { Stalled } from './stall-watch.ts';
import type { StallWatch } from './stall-watch.ts';
import type { FrameReader } from './wire.ts';

export interface AnswerSource {
  /** The body's pieces; the first one has been read already, to see what it is. */
  readonly pieces: AsyncIterator<Uint8Array>;
  readonly first: Uint8Array;
  readonly watch: StallWatch;
  readonly exchange: Exchange;
  readonly readFrame: FrameReader;
  readonly maxOutputBytes: number;
  readonly secrets: readonly string[];
}

type FrameSource = Pick<AnswerSource, 'exchange' | 'readFrame' | 'maxOutputBytes' | 'secrets'>;

/** Server-sent events for the SDK: one text for each piece of the body that holds something. */
export async function* answerEvents(source: AnswerSource): AsyncGenerator<string, void> {
  const parser = new SseParser(source.maxOutputBytes);
  let piece: IteratorResult<Uint8Array> = { done: false, value: source.first };
  try {
    while (piece.done !== true) {
      source.watch.sawBytes();
      const { text, isOver } = takeEvents(parser.push(piece.value), source);
      if (text !== '') yield text;
      if (isOver) return;
      piece = await source.watch.wait(source.pieces.next());
    }
    const { text } = takeEvents(parser.end(), source, true);
    if (text !== '') yield text;
  } catch (error) {
    takeFault(error, source);
  }
}

/** The same for an answer that came whole, from a server that doesn't stream. */
export function wholeAnswerEvents(body: unknown, source: FrameSource): string {
  return takeValue(body, null, source).text;
}

interface Taken {
  readonly text: string;
  readonly isOver: boolean;
  readonly isKeepAlive?: boolean;
}

function takeEvents(events: readonly SseEvent[], source: AnswerSource, isEnd = false): Taken {
  let text = '';
  for (const event of events) {
    const content = frameContent(event.data);
    if (content.kind === 'empty') continue;
    if (content.kind !== 'json') source.watch.sawData();
    if (content.kind === 'done') return { text, isOver: true };
    if (content.kind === 'garbage') {
      // A frame that the end cut off is the end's fault, and that is judged by the missing finish reason.
      if (!isEnd) takeGarbage(event.data, source);
      return { text, isOver: true };
    }
    for (const value of content.values) {
      const taken = takeValue(value, event.name, source);
      if (taken.isKeepAlive !== true) source.watch.sawData();
      text += taken.text;
      if (taken.isOver) return { text, isOver: true };
    }
    if (source.exchange.finishReason !== null) source.watch.sawFinishReason();
  }
  return { text, isOver: false };
}

function takeValue(value: unknown, eventName: string | null, source: FrameSource): Taken {
  const { exchange } = source;
  const frame = source.readFrame(value, eventName, exchange);
  if (frame.error !== undefined) {
    exchange.fail(
      classifyFailure({
        status: 200,
        headers: {},
        body: frame.error,
        inStream: true,
        nowMs: Date.now(),
        secrets: source.secrets,
      }),
    );
    return { text: '', isOver: true };
  }
  if (exchange.outputBytes > source.maxOutputBytes) {
    takeOversize(source);
    return { text: '', isOver: true };
  }
  const text = frame.forSdk === null ? '' : `data: ${JSON.stringify(frame.forSdk)}\n\n`;
  return { text, isOver: false, isKeepAlive: frame.isKeepAlive ?? false };
}

/** Of a damaged frame. */
const maxShownCharacters = 200;

function takeGarbage(data: string, { exchange, secrets }: AnswerSource): void {
  if (exchange.finishReason !== null) return;
  // Masked before the cut that counts, so that no secret hides in its border; the wide one bounds the work.
  const shown = masked(data.slice(0, 10 * maxShownCharacters).replace(/\s+/g, ' '), secrets);
  const beginning = beginningOf(shown, maxShownCharacters);
  exchange.failAs('cut_off', `The provider's stream is damaged: a frame is no JSON: ${beginning}`, true);
}

function takeOversize({ exchange, maxOutputBytes }: Pick<AnswerSource, 'exchange' | 'maxOutputBytes'>): void {
  exchange.failAs(
    'cut_off',
    `The gateway ended the answer because it grew past ${String(maxOutputBytes)} bytes.`,
    false,
  );
}

function takeFault(error: unknown, source: AnswerSource): void {
  const { exchange } = source;
  if (error instanceof FrameTooLong) takeOversize(source);
  else if (exchange.finishReason !== null) return;
  else if (error instanceof Stalled) exchange.failAs('stalled', `The provider went silent: ${error.message}.`, true);
  else exchange.failAs('cut_off', `The connection broke in the middle of the answer (${errorCode(error)}).`, true);
}
