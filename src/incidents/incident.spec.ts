import { incidentNumber } from './incident.js';

describe('incidentNumber', () => {
  it('has at least four digits and the year of the creation in UTC', () => {
    const newYear = new Date('2026-12-31T23:59:59.999Z');
    expect(incidentNumber('7', newYear)).toBe('INC-2026-0007');
    expect(incidentNumber('12345', new Date(newYear.getTime() + 1))).toBe('INC-2027-12345');
  });
});
