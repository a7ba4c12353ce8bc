/* What the words of an error say beside their meaning: JSON, codes, names and numbers inside them. */

/** JSON that a text is or ends with: `{"error":…}` itself, or `400 Bad Request - {"error":…}`. */
export function embeddedJson(text: string): { readonly before: string; readonly value: unknown } | null {
  const start = text.search(/[{[]\s*["{[]/);
  if (start < 0) return null;
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  const quoted = text.slice(start, end + 1);
  const value = parsed(quoted) ?? parsed(quoted.replace(/\\"/g, '"'));
  return typeof value === 'object' && value !== null ? { before: text.slice(0, start).trim(), value } : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Codes of JSON that can't be parsed any more, because it is cut or stands between other words. */
export function codesInText(text: string): readonly string[] {
  const pairs = text.matchAll(
    /["'](?:code|type|status|reason|error_type|errorType|__type)\\?["']\s*:\s*\\?["']([\w.-]{2,60})\\?["']/g,
  );
  return [...pairs].flatMap(([, code]) => (code === undefined || code === 'error' ? [] : [code.toLowerCase()]));
}

/** `litellm.BadRequestError: ContextWindowExceededError: …`, `An error occurred (ThrottlingException) when …`. */
export function leadingNames(text: string): readonly string[] {
  const prefix = /^(?:[\s:,<>()[\]\d-]|error:|[\w.]+(?:error|exception)\b)+/i.exec(text)?.[0] ?? '';
  const inBrackets = /^an error occurred \((\w+)\)/i.exec(text)?.[1];
  const names = [...prefix.matchAll(/(\w+(?:error|exception))\b/gi)].map(([name]) => name);
  return [...names, ...(inBrackets === undefined ? [] : [inBrackets])].map((name) => name.toLowerCase());
}

export function leadingStatus(text: string): number | null {
  const match =
    /^\W{0,2}(?:[\w.]*error:? ?)?(?:(?:error code|status code|status|http|http\/[\d.]+|code)[: ]{1,2})?([45]\d\d)(?!\d)/i.exec(
      text,
    );
  return httpStatus(match?.[1]);
}

export function textOfHtml(html: string): string {
  const title = /<(?:title|h1)[^>]*>([^<]{1,200})</i.exec(html)?.[1];
  const words = title ?? html.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
  return words.replace(/\s+/g, ' ').trim().slice(0, 300);
}

/** A number that is an HTTP error status, also as text. */
export function httpStatus(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 400 && number <= 599 ? number : null;
}
