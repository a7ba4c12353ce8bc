import type { FailureKind } from '../../../core/domain/model/failure.ts';

export interface MessageParts {
  readonly kind: FailureKind;
  readonly status: number | null;
  /** The provider's own words, outermost first. */
  readonly texts: readonly string[];
  readonly contextTokens: number | null;
  readonly isOverWholeBudget: boolean;
  /** Values that must not appear, whatever the provider echoes. */
  readonly secrets: readonly string[];
}

/** One sentence that an operator can act on, with the provider's words at its end, cut and without secrets. */
export function operatorMessage(parts: MessageParts): string {
  const status = parts.status === null ? '' : ` (HTTP ${String(parts.status)})`;
  const words = providerWords(parts.texts, parts.secrets);
  return words === '' ? `${whatToDo(parts)}${status}.` : `${whatToDo(parts)}${status}: ${words}`;
}

const maxWordsCharacters = 300;

/** The innermost words: an outer "Provider returned error" says nothing. */
function providerWords(texts: readonly string[], secrets: readonly string[]): string {
  const telling = texts.findLast((text) => text.length > 3) ?? texts.at(-1) ?? '';
  const line = masked(telling, secrets)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length <= maxWordsCharacters ? line : `${line.slice(0, maxWordsCharacters - 1)}…`;
}

function whatToDo({ kind, contextTokens, isOverWholeBudget }: MessageParts): string {
  if (kind === 'context_overflow' && contextTokens !== null) {
    return `The request doesn't fit the model's context window of ${String(contextTokens)} tokens`;
  }
  if (kind === 'rate_limited' && isOverWholeBudget) {
    return "The request alone is larger than the plan's limit of tokens per minute, so waiting doesn't help; use a higher plan or send less";
  }
  return advice[kind] ?? 'The provider refused the request';
}

const advice: Partial<Record<FailureKind, string>> = {
  context_overflow: "The request doesn't fit the model's context window",
  output_limit: 'The requested length of the answer is more than the model allows; lower the maximum output tokens',
  payload_too_large: 'The request is too large in bytes for the provider, images and files included',
  rate_limited: 'The provider limits the rate of requests',
  quota_exhausted: "The provider account's quota or credit is used up; check plan and billing",
  unavailable: 'The provider has a problem of its own',
  auth: 'The provider refused the API key; check the key and what it may do',
  content_filtered: "The provider's content filter refused the request",
  configuration: "The provider doesn't know this model or address; check the model's name and base_url",
  not_an_api: 'The address answered with something that is no model API; check base_url',
  cut_off: 'The answer ended before it was finished',
};

const secretPatterns: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 ***'],
  [/\b((?:sk|pk|rk|gsk|xai|hf|nvapi|fw|pplx|csk|key|ghp|gho|github_pat|glpat)[-_])[\w*.-]{6,}/gi, '$1***'],
  [/\bAIza[\w-]{20,}/g, '***'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{12,}/g, '***'],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?/g, '***'],
  [
    /((?:api[_-]?key|access[_-]?token|authorization|password|secret|token)["']?\s*[:=]\s*["']?)[^\s"',;)}]{6,}/gi,
    '$1***',
  ],
  [/(\/\/)[^/\s:@]+:[^/\s@]+@/g, '$1***@'],
  [/\b(?=[\w-]*\d)(?=[\w-]*[a-zA-Z])[\w-]{40,}\b/g, '***'],
];

/** A text without known secret values and without what looks like one. */
export function masked(text: string, secrets: readonly string[]): string {
  const withoutKnown = secrets
    .filter((secret) => secret.length >= 4)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return secretPatterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), withoutKnown);
}
