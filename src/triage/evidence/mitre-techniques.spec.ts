import { knownTechniques } from './mitre-techniques.js';

describe('knownTechniques', () => {
  it.each([
    'T1001',
    'T1003.008',
    'T1053.005',
    'T1078',
    'T1110.004',
    'T1204.004',
    'T1486',
    'T1566.001',
    'T1566.004',
    'T1684.002',
    'T1690',
  ])('knows %s', (id) => {
    expect(knownTechniques([id])).toEqual([id]);
  });

  it.each([
    'T1003.009',
    'T1053.004',
    'T1055.006',
    'T9999',
    'T1566.000',
    'T1566.1',
    't1566',
    'T1566.001.001',
    'TA0001',
    'T1566:1-4',
    '',
    '__proto__',
    'constructor',
  ])('does not know %j', (id) => {
    expect(knownTechniques([id])).toEqual([]);
  });

  it('names a technique as it is called today when an older id is given, and each one once', () => {
    expect(knownTechniques(['T1562.001', ' T1562 ', 'T1685', 'T1070.001'])).toEqual([
      'T1685',
      'T1685.005',
    ]);
  });
});
