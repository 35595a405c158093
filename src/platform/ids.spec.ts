import { firstIdAt, isUuid, newId, timeOfId, endIdBefore, firstIdAfter } from './ids.js';
import fc from 'fast-check';

const MOMENT = Date.UTC(2100, 0, 1);

describe('newId', () => {
  it('returns UUIDs of version 7 that begin with their time', () => {
    const id = newId(MOMENT);
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    expect(timeOfId(id)).toBe(MOMENT);
    expect(id > firstIdAt(MOMENT)).toBe(true);
  });

  it('counts up within a millisecond, so that later ids sort later', () => {
    const ids = Array.from({ length: 1_000 }, () => newId(MOMENT + 1));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(1_000);
  });

  it('returns sorted ids even if ids of other times come between', () => {
    const ids = Array.from({ length: 500 }, (_, n) => {
      newId(MOMENT - n);
      return newId(MOMENT + 2);
    });
    expect(ids.toSorted()).toEqual(ids);
  });

  it('returns sorted ids after a clock that was ahead is set back', () => {
    newId(MOMENT + 60_000);
    for (let n = 0; n < 4_096; n += 1) newId(MOMENT + 3);
    const ids = Array.from({ length: 1_000 }, () => newId(MOMENT + 4));
    expect(ids.toSorted()).toEqual(ids);
  });
});

const ms = fc.integer({ min: 1, max: 253_402_300_799_999 });
const iso = (time: number, finer = ''): string =>
  new Date(time).toISOString().replace('Z', `${finer}Z`);

describe('time bounds as id bounds', () => {
  it('exclude exactly the ids of the same millisecond', () => {
    fc.assert(
      fc.property(ms, (time) => {
        expect(newId(time) >= firstIdAfter(iso(time))).toBe(false);
        expect(newId(time + 1) >= firstIdAfter(iso(time))).toBe(true);
        expect(newId(time) < endIdBefore(iso(time))).toBe(false);
        expect(newId(time - 1) < endIdBefore(iso(time))).toBe(true);
      }),
    );
  });

  it('are exact for times that are finer than a millisecond', () => {
    const time = Date.parse('2026-01-31T09:30:00.123Z');
    expect(newId(time) >= firstIdAfter(iso(time, '000001'))).toBe(false);
    expect(newId(time + 1) >= firstIdAfter(iso(time, '999999'))).toBe(true);
    expect(newId(time) < endIdBefore(iso(time, '000001'))).toBe(true);
    expect(newId(time) < endIdBefore(iso(time, '000000'))).toBe(false);
    expect(endIdBefore('2026-01-31T09:30:00.1Z')).toBe(
      firstIdAt(Date.parse('2026-01-31T09:30:00.100Z')),
    );
  });

  it('accept times before the first and after the last possible id', () => {
    expect(firstIdAfter('0001-01-01T00:00:00Z')).toBe(firstIdAt(0));
    expect(newId(Date.now()) < endIdBefore('9999-12-31T23:59:59.999Z')).toBe(true);
  });
});
