/** What the model reads of a tool's result. */
export interface ToolOutput {
  readonly text: string;
  readonly isError: boolean;
}

/**
 * Turns the result of `tools/call` into text. The result may be of any shape: what is not understood is named and never
 * an error. Text that exceeds `maxBytes` (UTF-8) is cut, and a last line says how much is missing.
 *
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 */
export function renderToolResult(result: unknown, maxBytes: number): ToolOutput {
  const { content, structuredContent, isError } = asRecord(result);
  const blocks = Array.isArray(content) ? content.map(renderBlock) : [];
  // Servers repeat structured content as text; only one that doesn't has it rendered.
  if (blocks.length === 0 && structuredContent !== undefined) blocks.push(JSON.stringify(structuredContent));
  return { text: cutText(blocks.join('\n'), maxBytes), isError: isError === true };
}

/** Well-formed text of at most `maxBytes`, never ending inside a character, plus a marker line if something is missing. */
export function cutText(text: string, maxBytes: number): string {
  // A lone surrogate has no UTF-8 form: the round trip replaces it.
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return bytes.toString('utf8');
  let end = maxBytes;
  while (end > 0 && isInsideCharacter(bytes[end])) end -= 1;
  return `${bytes.toString('utf8', 0, end)}\n[output cut: ${end} of ${bytes.length} bytes kept]`;
}

function renderBlock(block: unknown): string {
  const { type, text, data, mimeType, resource, uri, name } = asRecord(block);
  switch (type) {
    case 'text':
      return asText(text);
    case 'image':
    case 'audio':
      return `[${type} ${asText(mimeType)}, ${sizeOfBase64(data)}]`;
    case 'resource':
      return renderResource(asRecord(resource));
    case 'resource_link':
      return `[resource link ${asText(name)} ${asText(uri)}]`;
    default:
      return `[${asText(type) || 'content of no known type'}]`;
  }
}

/** The text of an embedded resource is often all that a tool has to say, so it is kept; binary content is not. */
function renderResource({ uri, mimeType, text, blob }: Fields): string {
  const label = ['resource', asText(uri), asText(mimeType)].filter((part) => part !== '').join(' ');
  if (typeof text === 'string') return `[${label}]\n${text}`;
  return `[${label}, ${sizeOfBase64(blob)}]`;
}

function sizeOfBase64(data: unknown): string {
  const bytes = Math.floor((asText(data).replace(/=+$/, '').length * 3) / 4);
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** In UTF-8 every byte of a character but the first is 10xxxxxx. */
function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

type Fields = Readonly<Partial<Record<FieldName, unknown>>>;
type FieldName =
  | 'content'
  | 'structuredContent'
  | 'isError'
  | 'type'
  | 'text'
  | 'data'
  | 'mimeType'
  | 'resource'
  | 'uri'
  | 'name'
  | 'blob';

function asRecord(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? value : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
