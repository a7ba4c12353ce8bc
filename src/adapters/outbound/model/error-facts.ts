/*
 * What a provider's error says, pulled out of whatever it is wrapped in.
 *
 * F1: only fields that hold errors are read. Echoed requests, prompts and answers are never looked at, so that what a
 *     user writes can't be taken for a provider's failure.
 * F2: of several errors in one body the first decides; later ones belong to fallbacks.
 * F3: JSON inside strings is unwrapped to a fixed depth, and the walk is bounded.
 */
import { announcesEcho, firstOfChain, withoutEcho } from './error-text.ts';
import { codesInText, embeddedJson, httpStatus, leadingNames, leadingStatus, textOfHtml } from './error-words.ts';

export interface ErrorFacts {
  /** Codes, types and status names, lower case, outermost first. */
  readonly codes: readonly string[];
  /** Names of exceptions that stand in front of a text, lower case. */
  readonly names: readonly string[];
  /** The provider's own words, outermost first, each cut to the first error of its chain. */
  readonly texts: readonly string[];
  /** An HTTP status that is named inside the body. */
  readonly status: number | null;
  /** A context size that a field of its own states. */
  readonly contextTokens: number | null;
  /** A delay that a field of its own states. */
  readonly retryAfterMs: number | null;
  readonly isHtml: boolean;
}

export function errorFacts(body: unknown): ErrorFacts {
  const found: Found = {
    codes: [],
    names: [],
    texts: [],
    status: null,
    contextTokens: null,
    retryAfterMs: null,
    isHtml: false,
  };
  visit(body, found, 0, 0);
  return found;
}

interface Found {
  readonly codes: string[];
  readonly names: string[];
  readonly texts: string[];
  status: number | null;
  contextTokens: number | null;
  retryAfterMs: number | null;
  isHtml: boolean;
}

const maxDepth = 8;
const maxUnwraps = 3;
const maxTexts = 12;
const maxTextCharacters = 20_000;

const codeFields = [
  'code',
  'type',
  'status',
  'reason',
  'name',
  'error_code',
  'errorCode',
  'error_type',
  'errorType',
  'err_code',
  '__type',
] as const;
const textFields = [
  'message',
  'msg',
  'errorMessage',
  'error_message',
  'error_msg',
  'status_msg',
  'error_description',
  'description',
  'title',
  'raw',
  'details',
  'detail',
  'error',
  'err',
  'quotaId',
] as const;
const statusFields = [
  'code',
  'status',
  'status_code',
  'statusCode',
  'http_code',
  'httpStatusCode',
  'error_code',
] as const;
/** Objects and lists below which errors are nested. An order, since the first error decides. */
const nestedFields = [
  'error',
  'errors',
  'err',
  'detail',
  'details',
  'data',
  'metadata',
  '$metadata',
  'innererror',
  'inner_error',
  'base_resp',
  'body',
  'response',
  'raw',
  'cause',
  'exception',
  'violations',
] as const;
/** Lists whose items all belong to one error; of every other list the first item decides (F2). */
const wholeLists: readonly string[] = ['details', 'violations'];
const contextFields = ['n_ctx', 'max_context_length', 'max_model_len'] as const;

function visit(value: unknown, found: Found, depth: number, unwraps: number): void {
  if (depth > maxDepth) return;
  if (typeof value === 'string') visitText(value, found, depth, unwraps);
  else if (Array.isArray(value)) visit(value.find(isTelling), found, depth + 1, unwraps);
  else if (isRecord(value)) visitRecord(value, found, depth, unwraps);
}

function visitRecord(record: Readonly<Record<string, unknown>>, found: Found, depth: number, unwraps: number): void {
  for (const field of codeFields) {
    const code = record[field];
    if (typeof code === 'string' && code !== '' && code !== 'error') found.codes.push(code.toLowerCase());
    if (typeof code === 'number') found.codes.push(String(code));
  }
  for (const field of statusFields) found.status ??= httpStatus(record[field]);
  for (const field of contextFields) found.contextTokens ??= positiveInteger(record[field]);
  found.retryAfterMs ??= statedDelay(record);
  for (const field of textFields) {
    const text = record[field];
    if (typeof text === 'string') visitText(text, found, depth, unwraps);
  }
  for (const field of nestedFields) {
    const nested = record[field];
    if (Array.isArray(nested) && wholeLists.includes(field))
      for (const item of nested) visit(item, found, depth + 1, unwraps);
    else if (typeof nested === 'object') visit(nested, found, depth + 1, unwraps);
  }
}

function visitText(whole: string, found: Found, depth: number, unwraps: number): void {
  const text = firstOfChain(whole.slice(0, maxTextCharacters)).trim();
  if (text === '' || found.texts.length >= maxTexts) return;
  if (/^<(?:!doctype|html|head|body|\?xml)/i.test(text)) {
    found.isHtml = true;
    found.texts.push(textOfHtml(text));
    return;
  }
  // Some servers send a code where others send words.
  if (/^[\w.-]{3,60}$/.test(text)) found.codes.push(text.toLowerCase());
  const json = unwraps < maxUnwraps ? embeddedJson(text) : null;
  const inner = json === null || announcesEcho(json.before) ? null : json;
  const words = inner === null ? withoutEcho(text) : inner.before;
  if (words !== '') found.texts.push(words);
  found.status ??= leadingStatus(words);
  found.names.push(...leadingNames(words));
  if (inner === null) found.codes.push(...codesInText(words));
  else visit(inner.value, found, depth + 1, unwraps + 1);
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
}

/** Google's RetryInfo (`retryDelay: "17s"` or seconds and nanos) and the plain fields that some gateways use. */
function statedDelay(record: Readonly<Record<string, unknown>>): number | null {
  const delay = record['retryDelay'];
  if (typeof delay === 'string') {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1];
    if (seconds !== undefined) return Math.round(Number(seconds) * 1000);
  }
  if (isRecord(delay)) {
    const seconds = Number(delay['seconds'] ?? 0);
    const nanos = Number(delay['nanos'] ?? 0);
    if (seconds + nanos > 0) return Math.round(seconds * 1000 + nanos / 1e6);
  }
  const units = [
    ['retry_after_ms', 1],
    ['retry_after_seconds', 1000],
    ['retry_after', 1000],
  ] as const;
  for (const [field, factor] of units) {
    const value = record[field];
    if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return Math.round(value * factor);
  }
  return null;
}

function isTelling(value: unknown): boolean {
  return typeof value === 'string' || isRecord(value);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
