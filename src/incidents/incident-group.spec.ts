import { groupOf } from './incident-group.js';

const group = (title: string, more: object = {}) =>
  groupOf({ source: 'wazuh', incidentType: 'malware', title, ...more });

describe('the group of an incident', () => {
  it.each([
    ['Brute force from 203.0.113.9 on WS-042', 'Brute force from 198.51.100.7 on  WS-1'],
    ['Mail "Invoice 7" from eve@evil.example', 'mail "Pay now" from bob@evil.example'],
    [String.raw`Beacon in C:\a.exe`, 'Beacon in /tmp/b'],
  ])('is the same for %j and %j', (one, other) => {
    expect(group(one)).toBe(group(other));
  });

  it('differs by source, type and the words of the title', () => {
    const groups = [
      group('Beacon on WS-042'),
      group('Brute force on WS-042'),
      group('Beacon on WS-042', { source: 'falcon' }),
      group('Beacon on WS-042', { incidentType: 'other' }),
    ];
    expect(new Set(groups).size).toBe(groups.length);
  });

  it('is found in short time in a title of quotes', () => {
    expect(group('"'.repeat(300) + 'a'.repeat(300))).toHaveLength(32);
  });
});
