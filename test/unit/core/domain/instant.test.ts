import { expect, test } from 'vitest';
import { addSeconds, isBefore } from '../../../../src/core/domain/instant.ts';

test('seconds carry over into the next day', () => {
  expect(addSeconds('2030-12-31T23:59:30.250Z', 60)).toBe('2031-01-01T00:00:30.250Z');
});

test('an instant is before another by time and not by spelling', () => {
  expect(isBefore('2030-01-01T00:00:00.000Z', '2030-01-01T00:00:00.001Z')).toBe(true);
  expect(isBefore('2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z')).toBe(false);
  expect(isBefore('2030-01-01T01:00:00+02:00', '2030-01-01T00:00:00.000Z')).toBe(true);
});
