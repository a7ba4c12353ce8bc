/** SHA-256 of a text's UTF-8 bytes, in lower-case hexadecimal. */
export interface Digest {
  of(text: string): string;
}
