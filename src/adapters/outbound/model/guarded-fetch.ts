/*
 * The fetch that the SDK is given, for one request.
 *
 * G1: a request, and the key in it, only goes to the configured origin; a redirect to another one is refused.
 * G2: an answer is read as what it is, whatever its content type says: an error, a web page, a whole answer, a stream.
 * G3: every wait has a deadline and every body a limit.
 * G4: a failure is taken down in the exchange; what is thrown to the SDK afterwards carries no meaning.
 */
import { answerEvents, wholeAnswerEvents } from './answer-stream.ts';
import { classifyFailure } from './classify-failure.ts';
import type { Exchange } from './exchange.ts';
import type { HttpAnswer, HttpTransport } from './http-transport.ts';
import { connectionFailure } from './network-failure.ts';
import { Stalled } from './stall-watch.ts';
import type { StallWatch } from './stall-watch.ts';

export interface GuardedFetchOptions {
  readonly transport: HttpTransport;
  readonly origin: string;
  readonly connectTimeoutMs: number;
  readonly maxErrorBytes: number;
  readonly maxOutputBytes: number;
  readonly secrets: readonly string[];
}

export interface GuardedRequest {
  readonly exchange: Exchange;
  readonly watch: StallWatch;
  readonly signal: AbortSignal;
}

type Fetch = typeof globalThis.fetch;

class Refused extends Error {
  override readonly name = 'Refused';
}

export function makeGuardedFetch(options: GuardedFetchOptions, request: GuardedRequest): Fetch {
  return async (input, init) => {
    const answer = await send(urlOf(input), init, options, request);
    const pieces: AsyncIterator<Uint8Array> = answer.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>; // No encoding is set, so they are buffers.
    const body = { answer, pieces };
    return answer.status >= 200 && answer.status < 300
      ? goodAnswer(body, options, request)
      : refuse(await errorBody(body, options, request), body, options, request);
  };
}

interface Body {
  readonly answer: HttpAnswer;
  readonly pieces: AsyncIterator<Uint8Array>;
}

const maxRedirects = 3;

async function send(
  url: URL,
  init: RequestInit | undefined,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Promise<HttpAnswer> {
  const headers = Object.fromEntries(new Headers(init?.headers).entries());
  const body = typeof init?.body === 'string' ? init.body : '';
  let target = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (target.origin !== options.origin) throw refusedRedirect(target, options, request);
    const post = options.transport.post({
      url: target,
      headers,
      body,
      signal: request.signal,
      connectTimeoutMs: options.connectTimeoutMs,
    });
    const answer = await firstByte(post, options, request);
    request.watch.sawBytes();
    const location = answer.headers['location'];
    if ((answer.status !== 307 && answer.status !== 308) || location === undefined) return answer;
    answer.body.resume(); // So that the connection can be used again.
    target = new URL(location, target);
  }
  throw refusedRedirect(target, options, request);
}

async function firstByte(
  post: Promise<HttpAnswer>,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Promise<HttpAnswer> {
  try {
    return await request.watch.wait(post);
  } catch (error) {
    if (error instanceof Stalled)
      request.exchange.failAs('stalled', `The provider did not answer: ${error.message}.`, true);
    else request.exchange.fail({ failure: connectionFailure(error, options.origin), learnt: null });
    throw new Refused();
  }
}

function refusedRedirect(target: URL, options: GuardedFetchOptions, { exchange }: GuardedRequest): Refused {
  exchange.failAs(
    'not_an_api',
    `${options.origin} redirects to ${target.origin}${target.pathname}; the key only goes to its configured address, so put the final one into base_url.`,
    false,
  );
  return new Refused();
}

/** Where an answer of 200 becomes a stream for the SDK. */
async function goodAnswer(body: Body, options: GuardedFetchOptions, request: GuardedRequest): Promise<Response> {
  const first = await firstPiece(body, request);
  const shape = shapeOf(first, body.answer.headers['content-type'] ?? '');
  if (shape === 'stream') return streamResponse(body, first, options, request);
  const text = await restOfBody(
    body,
    first,
    shape === 'json' ? options.maxOutputBytes : options.maxErrorBytes,
    request,
  );
  const value = shape === 'json' ? parsedJson(text) : undefined;
  if (!isWholeAnswer(value)) return refuse(text, body, options, request);
  return eventResponse(wholeAnswerEvents(value, { ...options, exchange: request.exchange }));
}

type Shape = 'stream' | 'json' | 'other';

/** The first characters say what a body is; the content type is often wrong. */
function shapeOf(first: Uint8Array, contentType: string): Shape {
  const start = new TextDecoder().decode(first.subarray(0, 200)).trimStart();
  if (/^[{[]/.test(start)) return 'json';
  if (start.startsWith('<')) return 'other';
  return /^(?:data|event|id|retry)?:/.test(start) || contentType.includes('event-stream') ? 'stream' : 'other';
}

async function firstPiece({ pieces }: Body, request: GuardedRequest): Promise<Uint8Array> {
  try {
    for (;;) {
      const piece = await request.watch.wait(pieces.next());
      if (piece.done === true) return new Uint8Array();
      request.watch.sawBytes();
      if (piece.value.length > 0) return piece.value;
    }
  } catch (error) {
    throw bodyFault(error, request);
  }
}

function streamResponse(
  { pieces }: Body,
  first: Uint8Array,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Response {
  const events = answerEvents({ ...options, pieces, first, watch: request.watch, exchange: request.exchange });
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const event = await events.next();
        if (event.done !== true) return controller.enqueue(encoder.encode(event.value));
        controller.close();
        request.exchange.drained = drain(pieces);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

/** Reads a body to its very end, so that its connection can be used again. Closing the request ends this at any time. */
async function drain(pieces: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    while ((await pieces.next()).done !== true);
  } catch {
    // A connection that broke can't be used again, and that is all.
  }
}

function eventResponse(events: string): Response {
  return new Response(events, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

async function errorBody(body: Body, options: GuardedFetchOptions, request: GuardedRequest): Promise<string> {
  try {
    return await restOfBody(body, new Uint8Array(), options.maxErrorBytes, request);
  } catch {
    return ''; // The status alone says enough; an error body that breaks off says no more.
  }
}

/** The text of a body, as far as the limit goes. */
async function restOfBody(
  { answer, pieces }: Body,
  first: Uint8Array,
  maxBytes: number,
  request: GuardedRequest,
): Promise<string> {
  const read: Uint8Array[] = [first];
  let bytes = first.length;
  try {
    while (bytes < maxBytes) {
      const piece = await request.watch.wait(pieces.next());
      if (piece.done === true) break;
      request.watch.sawBytes();
      read.push(piece.value);
      bytes += piece.value.length;
    }
  } catch (error) {
    if (answer.status < 400) throw bodyFault(error, request);
  }
  return Buffer.concat(read).subarray(0, maxBytes).toString('utf8');
}

function bodyFault(error: unknown, { exchange }: GuardedRequest): Refused {
  if (error instanceof Stalled) exchange.failAs('stalled', `The provider went silent: ${error.message}.`, true);
  else exchange.failAs('cut_off', 'The connection broke in the middle of the answer.', true);
  return new Refused();
}

function refuse(text: string, { answer }: Body, options: GuardedFetchOptions, { exchange }: GuardedRequest): never {
  exchange.fail(
    text.trim() === '' && answer.status < 300
      ? emptyAnswer(answer.status)
      : classifyFailure({
          status: answer.status,
          headers: answer.headers,
          body: text,
          inStream: answer.status < 300 && holdsError(text),
          nowMs: Date.now(),
          secrets: options.secrets,
        }),
  );
  throw new Refused();
}

function emptyAnswer(status: number): Parameters<Exchange['fail']>[0] {
  const message = `The provider answered with nothing at all (HTTP ${String(status)}).`;
  return {
    failure: { reason: 'cut_off', message, retryable: true, providerStatus: status, retryAfterMs: null },
    learnt: null,
  };
}

/** An error in an answer of 200 is the vendor's own and as good as one inside a stream. */
function holdsError(text: string): boolean {
  const value = parsedJson(text);
  return (
    typeof value === 'object' &&
    value !== null &&
    ['error', 'errors', 'detail', 'message'].some((field) => field in value)
  );
}

function isWholeAnswer(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    'choices' in value &&
    Array.isArray(value.choices) &&
    value.choices.length > 0 &&
    !('error' in value && value.error !== null)
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function urlOf(input: Parameters<Fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : input);
}
