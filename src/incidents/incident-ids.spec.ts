import fc from 'fast-check';
import { newId } from '../platform/ids.js';
import { endIdBefore, firstIdAfter, firstIdAt } from './incident-ids.js';
import { incidentNumber } from './incident-number.js';

const ms = fc.integer({ min: 1, max: 253_402_300_799_999 });
const iso = (time: number, finer = ''): string =>
  new Date(time).toISOString().replace('Z', `${finer}Z`);

describe('bounds in time as bounds of ids', () => {
  it('should leave out exactly the incident of the same millisecond', () => {
    fc.assert(
      fc.property(ms, (time) => {
        expect(newId(time) >= firstIdAfter(iso(time))).toBe(false);
        expect(newId(time + 1) >= firstIdAfter(iso(time))).toBe(true);
        expect(newId(time) < endIdBefore(iso(time))).toBe(false);
        expect(newId(time - 1) < endIdBefore(iso(time))).toBe(true);
      }),
    );
  });

  it('should compare finer times exactly', () => {
    const time = Date.parse('2026-01-31T09:30:00.123Z');
    expect(newId(time) >= firstIdAfter(iso(time, '000001'))).toBe(false);
    expect(newId(time + 1) >= firstIdAfter(iso(time, '999999'))).toBe(true);
    expect(newId(time) < endIdBefore(iso(time, '000001'))).toBe(true);
    expect(newId(time) < endIdBefore(iso(time, '000000'))).toBe(false);
    expect(endIdBefore('2026-01-31T09:30:00.1Z')).toBe(
      firstIdAt(Date.parse('2026-01-31T09:30:00.100Z')),
    );
  });

  it('should take times before the first and after the last that ids can hold', () => {
    expect(firstIdAfter('0001-01-01T00:00:00Z')).toBe(firstIdAt(0));
    expect(newId(Date.now()) < endIdBefore('9999-12-31T23:59:59.999Z')).toBe(true);
  });
});

describe('incidentNumber', () => {
  it('should have at least four digits and the year of the creation in UTC', () => {
    const newYear = new Date('2026-12-31T23:59:59.999Z');
    expect(incidentNumber('7', newYear)).toBe('INC-2026-0007');
    expect(incidentNumber('12345', new Date(newYear.getTime() + 1))).toBe('INC-2027-12345');
  });
});
