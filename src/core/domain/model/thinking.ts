/**
 * An answer without the thinking that a local model puts before it as text. Thinking that never ends leaves nothing. A
 * closing tag alone is no evidence: the text before it may be the answer, and it speaks of such a tag.
 */
export function withoutThinking(text: string): string {
  return text.replace(/^\s*<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>\s*|$)/i, '');
}
