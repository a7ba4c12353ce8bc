/*
 * The fetch that the SDK is given, for one request.
 *
 * G1: a request, and the key in it, only goes to the configured origin; a redirect to another one is refused.
 * G2: an answer is read as what it is, whatever its content type says: an error, a web page, a whole answer, a stream.
 * G3: every wait has a deadline and every body a limit.
 * G4: a failure is taken down in the exchange; what is thrown to the SDK afterwards carries no meaning.
 */
import { failureOf } from '../../../core/domain/model/failure.ts';
import { AnswerBody } from './answer-body.ts';
import { answerEvents, wholeAnswerEvents } from './answer-stream.ts';
import { classifyFailure } from './classify-failure.ts';
import { isRecord } from './error-facts.ts';
import type { Exchange } from './exchange.ts';
import type { HttpAnswer, HttpTransport } from './http-transport.ts';
import { connectionFailure } from './network-failure.ts';
import { Stalled } from './stall-watch.ts';
import type { StallWatch } from './stall-watch.ts';
import type { Wire } from './wire.ts';

export interface GuardedFetchOptions {
  readonly transport: HttpTransport;
  readonly origin: string;
  readonly wire: Pick<Wire, 'readFrame' | 'takesWholeAnswers'>;
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

/** Tells the SDK that there is nothing to read; why is in the exchange. */
class Refused extends Error {
  override readonly name = 'Refused';
}

export function makeGuardedFetch(options: GuardedFetchOptions, request: GuardedRequest): Fetch {
  return async (input, init) => {
    const answer = await send(urlOf(input), init, options, request);
    const body = new AnswerBody(answer, request.watch);
    if (answer.status >= 200 && answer.status < 300) return goodAnswer(answer, body, options, request);
    // The status alone says enough: an error body that breaks off says no more.
    const text = await body.text(options.maxErrorBytes).catch(() => '');
    throw refusedAnswer(text, answer, options, request);
  };
}

const maxRedirects = 3;

async function send(
  url: URL,
  init: RequestInit | undefined,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Promise<HttpAnswer> {
  const { transport, connectTimeoutMs, origin } = options;
  const headers = Object.fromEntries([...new Headers(init?.headers)].filter(([, value]) => isSaid(value)));
  const body = typeof init?.body === 'string' ? init.body : '';
  let target = url;
  for (let redirects = 0; redirects <= maxRedirects && target.origin === origin; redirects += 1) {
    const post = transport.post({ url: target, headers, body, signal: request.signal, connectTimeoutMs });
    const answer = await firstByte(post, options, request);
    request.watch.sawBytes();
    const location = answer.headers['location'];
    // Every other redirect would turn the request into a GET.
    if ((answer.status !== 307 && answer.status !== 308) || location === undefined) return answer;
    answer.body.resume(); // So that the connection can be used again.
    target = new URL(location, target);
  }
  const words = `${origin} redirects to ${target.origin}${target.pathname}; the key only goes to its configured address, so put the final one into base_url.`;
  request.exchange.failAs('not_an_api', words, false);
  throw new Refused();
}

async function firstByte(
  post: Promise<HttpAnswer>,
  { origin }: GuardedFetchOptions,
  { watch, exchange }: GuardedRequest,
): Promise<HttpAnswer> {
  try {
    return await watch.wait(post);
  } catch (error) {
    const failure =
      error instanceof Stalled
        ? failureOf('stalled', `The provider did not answer: ${error.message}.`, { retryable: true })
        : connectionFailure(error, origin);
    exchange.fail({ failure, learnt: null });
    throw new Refused();
  }
}

/** Where an answer of 200 becomes a stream for the SDK. */
async function goodAnswer(
  answer: HttpAnswer,
  body: AnswerBody,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Promise<Response> {
  try {
    const beginning = await body.beginning();
    const shape = body.shapeOf(beginning);
    if (shape === 'stream') return streamResponse(body, beginning, options, request);
    const text = await body.text(shape === 'json' ? options.maxOutputBytes : options.maxErrorBytes, beginning);
    const value = parsedJson(text);
    if (!options.wire.takesWholeAnswers || !isWholeAnswer(value)) throw refusedAnswer(text, answer, options, request);
    return eventResponse(
      wholeAnswerEvents(value, { ...options, readFrame: options.wire.readFrame, exchange: request.exchange }),
    );
  } catch (error) {
    throw error instanceof Refused ? error : brokenBody(error, request);
  }
}

function streamResponse(
  body: AnswerBody,
  beginning: Uint8Array,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Response {
  const { exchange, watch } = request;
  const { readFrame } = options.wire;
  const events = answerEvents({ ...options, readFrame, pieces: body.pieces, first: beginning, watch, exchange });
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const event = await events.next();
        if (event.done !== true) return controller.enqueue(encoder.encode(event.value));
        controller.close();
        exchange.drained = body.drain();
      },
    },
    { highWaterMark: 0 },
  );
  return eventResponse(stream);
}

function eventResponse(events: string | ReadableStream<Uint8Array>): Response {
  return new Response(events, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

function brokenBody(error: unknown, { exchange }: GuardedRequest): Refused {
  if (error instanceof Stalled) exchange.failAs('stalled', `The provider went silent: ${error.message}.`, true);
  else exchange.failAs('cut_off', 'The connection broke in the middle of the answer.', true);
  return new Refused();
}

function refusedAnswer(
  text: string,
  { status, headers }: HttpAnswer,
  { secrets }: GuardedFetchOptions,
  { exchange }: GuardedRequest,
): Refused {
  const isGood = status < 300;
  if (isGood && text.trim() === '') {
    exchange.failAs('cut_off', 'The provider answered with nothing at all.', true, status);
  } else {
    const inStream = isGood && holdsError(parsedJson(text));
    exchange.fail(classifyFailure({ status, headers, body: text, inStream, nowMs: Date.now(), secrets }));
  }
  return new Refused();
}

/** An error in an answer of 200 is the vendor's own and as good as one inside a stream. */
function holdsError(value: unknown): boolean {
  return isRecord(value) && ['error', 'errors', 'detail', 'message'].some((field) => field in value);
}

function isWholeAnswer(value: unknown): boolean {
  if (!isRecord(value) || !Array.isArray(value['choices'])) return false;
  return value['choices'].length > 0 && (value['error'] === undefined || value['error'] === null);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where there is no key, an SDK still names the header. */
function isSaid(value: string): boolean {
  return value !== '' && value !== 'Bearer';
}

function urlOf(input: Parameters<Fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : input);
}
