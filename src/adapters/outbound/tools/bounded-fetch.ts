import type { FetchLike, RequestId } from '@modelcontextprotocol/client';
import { EventCutter } from './event-cutter.ts';

export interface FetchBounds {
  /** The most bytes of one message. */
  readonly maxMessageBytes: number;
  /** Told of an answer that has more, before its response fails. */
  readonly onTooLarge: (id: RequestId) => void;
}

/** A `fetch` for MCP over HTTP that holds no more of a response in memory than one message may have. */
export function boundFetch(fetch: FetchLike, bounds: FetchBounds): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const id = requestIdOf(init?.body);
    const isStream = response.ok && headers.get('content-type')?.startsWith('text/event-stream') === true;
    const bounded = isStream ? boundEvents(body, id, bounds) : boundWhole(body, id, bounds);
    return new Response(bounded, { status, statusText, headers });
  };
}

/** Passes complete events on. Without an id this is the stream on which a server speaks by itself: it goes on. */
function boundEvents(
  body: ReadableStream<Uint8Array>,
  id: RequestId | null,
  bounds: FetchBounds,
): ReadableStream<Uint8Array> {
  const events = new EventCutter(bounds.maxMessageBytes);
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const { complete, overflowed } = events.push(chunk);
        if (complete.length > 0) controller.enqueue(complete);
        if (overflowed && id !== null) refuse(id, bounds);
      },
    }),
  );
}

function boundWhole(
  body: ReadableStream<Uint8Array>,
  id: RequestId | null,
  bounds: FetchBounds,
): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes > bounds.maxMessageBytes) refuse(id, bounds);
        controller.enqueue(chunk);
      },
    }),
  );
}

function refuse(id: RequestId | null, { onTooLarge }: FetchBounds): never {
  if (id !== null) onTooLarge(id);
  throw new Error('the response exceeds the limit of a message');
}

function requestIdOf(body: unknown): RequestId | null {
  if (typeof body !== 'string') return null;
  // The SDK has just made this text from a message.
  const { id, method } = JSON.parse(body) as { readonly id?: RequestId; readonly method?: string };
  return method === undefined ? null : (id ?? null);
}
