import { isTextType } from '../admission/unsupported-parts.ts';
import type { ContentPart } from './message.ts';

/** What a file of text says; null for any other part. Bytes that are no UTF-8 show as replacement characters. */
export function fileText(part: ContentPart): string | null {
  if (part.type !== 'file' || !isTextType(part.mediaType)) return null;
  const binary = atob(part.data);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return new TextDecoder().decode(bytes);
}
