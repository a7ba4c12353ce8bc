import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../../src/adapters/outbound/model/retry-after.ts';

const nowMs = Date.parse('2030-01-01T00:00:00Z');
const from = (sources: Partial<Parameters<typeof retryAfterMs>[0]>) =>
  retryAfterMs({ headers: {}, bodyMs: null, text: '', nowMs, ...sources });

describe('the header retry-after', () => {
  it.each<[string, number | null]>([
    ['30', 30_000],
    ['0', 0],
    [' 2 ', 2000],
    ['1.5', 1500],
    ['999999', 999_999_000],
    ['Tue, 01 Jan 2030 00:00:20 GMT', 20_000],
    ['Tuesday, 01-Jan-30 00:00:20 GMT', 20_000],
    ['Tue Jan  1 00:00:20 2030', 20_000],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
    ['2abc', null],
    ['abc', null],
    ['', null],
    ['-5', null],
    ['+5', null],
    ['1e3', null],
    ['5 minutes', null],
    ['2030', 2_030_000],
    ['2030-01-01', null],
    ['99999999999', null],
  ])('%j is %s ms', (value, expected) => {
    expect(from({ headers: { 'retry-after': value } })).toBe(expected);
  });

  it('gives way to retry-after-ms', () => {
    expect(from({ headers: { 'retry-after': '30', 'retry-after-ms': '1500' } })).toBe(1500);
    expect(from({ headers: { 'retry-after': '30', 'retry-after-ms': 'soon' } })).toBe(30_000);
  });

  it("as a date is measured from the answer's own date where no clock is at hand", () => {
    const headers = { 'retry-after': 'Tue, 01 Jan 2030 00:00:20 GMT', date: 'Tue, 01 Jan 2030 00:00:05 GMT' };

    expect(from({ headers, nowMs: null })).toBe(15_000);
  });

  it('comes before the body, and a broken one does not hide the body', () => {
    expect(from({ headers: { 'retry-after': '1' }, bodyMs: 17_000 })).toBe(1000);
    expect(from({ headers: { 'retry-after': '2abc' }, bodyMs: 17_000, text: 'try again in 3s' })).toBe(17_000);
  });
});

describe('prose', () => {
  it.each<[string, number | null]>([
    ['please try again in 4.77s.', 4770],
    ['please try again in 7m12s.', 432_000],
    ['please try again in 1h2m3.5s', 3_723_500],
    ['try again in 450ms', 450],
    ['please retry after 30 seconds.', 30_000],
    ['wait 5 minutes and try again', 300_000],
    ['please retry in 17.9s', 17_900],
    ['try again in about 2 hours', 7_200_000],
    ['expected available in 12 seconds', 12_000],
    ['please try again later', null],
    ['try again with 5 messages', null],
    ['limit 30000, requested 5000', null],
  ])('%j asks for %s ms', (text, expected) => {
    expect(from({ text })).toBe(expected);
  });
});
