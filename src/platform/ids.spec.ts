import { firstIdAt, isUuid, newId, timeOfId } from './ids.js';

const MOMENT = Date.UTC(2100, 0, 1);

describe('newId', () => {
  it('makes UUIDs of version 7 that begin with their time', () => {
    const id = newId(MOMENT);
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    expect(timeOfId(id)).toBe(MOMENT);
    expect(id > firstIdAt(MOMENT)).toBe(true);
  });

  it('counts up within a millisecond, so that what came later sorts later', () => {
    const ids = Array.from({ length: 1_000 }, () => newId(MOMENT + 1));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(1_000);
  });

  it('keeps that order when ids of other times come between', () => {
    const ids = Array.from({ length: 500 }, (_, n) => {
      newId(MOMENT - n);
      return newId(MOMENT + 2);
    });
    expect(ids.toSorted()).toEqual(ids);
  });

  it('goes on with the present time when a clock that was ahead is put right', () => {
    newId(MOMENT + 60_000);
    for (let n = 0; n < 4_096; n += 1) newId(MOMENT + 3);
    const ids = Array.from({ length: 1_000 }, () => newId(MOMENT + 4));
    expect(ids.toSorted()).toEqual(ids);
  });
});
