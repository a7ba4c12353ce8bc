/* Instants are ISO 8601 strings in UTC. These functions only calculate with them; nothing here reads a clock. */
/* eslint-disable no-restricted-globals -- Date is used for arithmetic on given instants, never for the present. */

export function addSeconds(at: string, seconds: number): string {
  return new Date(Date.parse(at) + seconds * 1000).toISOString();
}

export function millisecondsBetween(earlier: string, later: string): number {
  return Date.parse(later) - Date.parse(earlier);
}

export function isBefore(a: string, b: string): boolean {
  return Date.parse(a) < Date.parse(b);
}
