import fc from 'fast-check';
import { endIdBefore, firstIdAfter } from './id-times.js';
import { firstIdAt, newId } from '../ids.js';

const ms = fc.integer({ min: 1, max: 253_402_300_799_999 });
const iso = (time: number, finer = ''): string =>
  new Date(time).toISOString().replace('Z', `${finer}Z`);

describe('bounds in time as bounds of ids', () => {
  it('leaves out what is of the same millisecond, and no other', () => {
    fc.assert(
      fc.property(ms, (time) => {
        expect(newId(time) >= firstIdAfter(iso(time))).toBe(false);
        expect(newId(time + 1) >= firstIdAfter(iso(time))).toBe(true);
        expect(newId(time) < endIdBefore(iso(time))).toBe(false);
        expect(newId(time - 1) < endIdBefore(iso(time))).toBe(true);
      }),
    );
  });

  it('compares times that are finer than a millisecond exactly', () => {
    const time = Date.parse('2026-01-31T09:30:00.123Z');
    expect(newId(time) >= firstIdAfter(iso(time, '000001'))).toBe(false);
    expect(newId(time + 1) >= firstIdAfter(iso(time, '999999'))).toBe(true);
    expect(newId(time) < endIdBefore(iso(time, '000001'))).toBe(true);
    expect(newId(time) < endIdBefore(iso(time, '000000'))).toBe(false);
    expect(endIdBefore('2026-01-31T09:30:00.1Z')).toBe(
      firstIdAt(Date.parse('2026-01-31T09:30:00.100Z')),
    );
  });

  it('takes times before the first and after the last one that an id can hold', () => {
    expect(firstIdAfter('0001-01-01T00:00:00Z')).toBe(firstIdAt(0));
    expect(newId(Date.now()) < endIdBefore('9999-12-31T23:59:59.999Z')).toBe(true);
  });
});
