import type { Settings } from '../history/settings.ts';

/** The text of a prompt. Its length goes by the key. */
export function promptOf({ promptCharacters }: Settings, name: string, key: number, more: string): string {
  const characters = promptCharacters[key % promptCharacters.length] ?? 20;
  return `${name}${more === '' ? '' : `, ${more}`}.${' more'.repeat(characters / 5)}`;
}
