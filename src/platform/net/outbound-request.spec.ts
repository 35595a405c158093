import { retryAfterMs } from './outbound-request.js';

describe('retryAfterMs', () => {
  const now = new Date('2026-11-02T09:30:00Z');

  it.each([
    [undefined, undefined],
    [' 2 ', 2_000],
    ['0', 0],
    ['999999999', 999_999_999_000],
    ['Mon, 02 Nov 2026 09:30:03 GMT', 3_000],
    ['Mon, 02 Nov 2026 09:29:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
  ])('reads the header %j as %j', (header, expected) =>
    expect(retryAfterMs(header, now)).toBe(expected),
  );
});
