import type { ContentPart } from '../transcript/message.ts';

/** Whether a model takes images, and files that are no text. Absent: nobody says, and it is tried. */
export interface ModelInputs {
  readonly images?: boolean;
  readonly files?: boolean;
}

/** Whether a model is known not to take a part. A file of text goes to every model, as text. */
export function isUnsupported(part: ContentPart, takes: ModelInputs): boolean {
  if (part.type === 'image') return takes.images === false;
  if (part.type !== 'file' || isTextType(part.mediaType)) return false;
  return takes[/^image\//i.test(part.mediaType) ? 'images' : 'files'] === false;
}

/** The places of the parts that a model is known not to take. */
export function unsupportedParts(parts: readonly ContentPart[] | null, taken: () => ModelInputs): readonly number[] {
  if (parts === null) return [];
  const takes = taken();
  return parts.flatMap((part, index) => (isUnsupported(part, takes) ? [index] : []));
}

/** Media types whose files are text. */
export function isTextType(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql)$|\+(?:json|xml)$/i.test(
    mediaType,
  );
}
