import { KNOWN_INCIDENT_TYPES } from '../../incidents/incident.js';
import type { SeverityMapping } from '../sources/webhook-source.entity.js';
import { knownType, numberRange, severityOf, typeOf } from './words.js';

const of = (said: string, mapping: SeverityMapping = {}) => severityOf({ said }, mapping);

describe('severityOf', () => {
  it.each([
    ['informational', 'low'],
    ['Info', 'low'],
    ['LOW', 'low'],
    ['medium', 'medium'],
    ['Moderate', 'medium'],
    ['High', 'high'],
    ['critical', 'critical'],
    ['SEVERE', 'critical'],
  ])('reads %s as %s', (said, severity) => expect(of(said)).toEqual({ severity }));

  it('returns medium without a severity', () => {
    expect(severityOf(undefined, { medium: 'high' })).toEqual({ severity: 'medium' });
  });

  it.each(['urgent', '72', 'constructor', '__proto__'])(
    'returns medium for the unknown word %s, with the word',
    (said) => expect(of(said)).toEqual({ severity: 'medium', unknownWord: said }),
  );

  it('cuts a very long word, and replaces unstorable characters', () => {
    const { unknownWord } = of(`\0\ud800${'x'.repeat(1_000_000)}`);
    expect(unknownWord).toHaveLength(100);
    expect(unknownWord?.startsWith('\ufffd\ufffdx')).toBe(true);
  });

  it('uses the mapping first, ignoring upper and lower case', () => {
    expect(of('high', { HIGH: 'low' })).toEqual({ severity: 'low' });
    expect(of('P1', { ' p1 ': 'critical' })).toEqual({ severity: 'critical' });
    const scaled = { said: '4', scale: { '4': 'high' } } as const;
    expect(severityOf(scaled, { '4': 'low' })).toEqual({ severity: 'low' });
  });

  it('uses the scale of the format if neither the mapping nor the usual words apply', () => {
    const said = { said: 'Fatal', number: 6, scale: { '5-6': 'critical' } } as const;
    expect(severityOf(said, { other: 'low' })).toEqual({ severity: 'critical' });
    expect(severityOf({ ...said, said: 'low' }, {})).toEqual({ severity: 'low' });
  });

  it.each([
    ['0', 'low'],
    ['39', 'low'],
    ['39.5', 'low'],
    ['40', 'medium'],
    ['59.999', 'medium'],
    ['79', 'high'],
    ['80', 'critical'],
    ['1000000', 'critical'],
  ])('finds %s in the ranges of the mapping: %s', (said, severity) => {
    const ranges = {
      '0-39': 'low',
      '40-59': 'medium',
      '60-79': 'high',
      '80-': 'critical',
    } as const;
    expect(of(said, ranges)).toEqual({ severity });
  });

  it('prefers a range that contains the decimals of a number to a range of its integer part', () => {
    const ranges = { '1-3': 'low', '3.5-6': 'high' } as const;
    expect(of('3.2', ranges)).toEqual({ severity: 'low' });
    expect(of('3.7', ranges)).toEqual({ severity: 'high' });
  });

  it('uses the first of two ranges that contain the number', () => {
    expect(of('40', { '0-40': 'low', '40-60': 'high' })).toEqual({ severity: 'low' });
  });

  it('searches the ranges for the number if the mapping has no entry for the word', () => {
    const said = { said: 'High', number: 72 } as const;
    expect(severityOf(said, { '70-75': 'critical' })).toEqual({ severity: 'critical' });
    expect(severityOf(said, { '70-75': 'critical', high: 'low' })).toEqual({ severity: 'low' });
  });

  it('returns medium for a number outside of the ranges', () => {
    expect(of('-1', { '0-5': 'low' })).toEqual({ severity: 'medium', unknownWord: '-1' });
    expect(of('5.1', { '6-7': 'low' })).toEqual({ severity: 'medium', unknownWord: '5.1' });
  });
});

describe('numberRange', () => {
  it.each([
    ['0-39', { from: 0, to: 39 }],
    [' 1.5 - 2.25 ', { from: 1.5, to: 2.25 }],
    ['80-', { from: 80, to: Infinity }],
    ['7', { from: 7, to: 7 }],
    ['39-0', { from: 39, to: 0 }],
  ])('reads %j', (text, range) => expect(numberRange(text)).toEqual(range));

  it.each(['', 'high', '-5', '1-2-3', '1--2', '1e3', '.5', '5.', '１-２', '9'.repeat(21), '0x10'])(
    'returns undefined for %j',
    (text) => expect(numberRange(text)).toBeUndefined(),
  );
});

describe('knownType', () => {
  it.each(KNOWN_INCIDENT_TYPES)('knows %s', (type) => expect(knownType(type)).toBe(type));

  it.each(['Data Exfiltration', 'DATA-EXFILTRATION', 'DataExfiltration', ' data_exfiltration '])(
    'recognises %j',
    (word) => expect(knownType(word)).toBe('data_exfiltration'),
  );

  it.each([undefined, '', 'fishing', 'phishing!', '__proto__', 'constructor'])(
    'does not recognise %j',
    (word) => expect(knownType(word)).toBeUndefined(),
  );

  it('translates words of a vendor, but keeps known types', () => {
    const translations = new Map([
      ['highconfphish', 'phishing'],
      ['spam', 'bec'],
    ] as const);
    expect(knownType('HighConf-Phish', translations)).toBe('phishing');
    expect(knownType('Spam', translations)).toBe('spam');
    expect(knownType('Phish', translations)).toBeUndefined();
  });
});

describe('typeOf', () => {
  const ofWords = (...words: string[]) => typeOf({ words, usualType: 'other' }, {});

  it.each([
    [['Spearphishing Link', 'Data Encrypted for Impact'], 'ransomware'],
    [['Suspicious inbox forwarding rule'], 'account_takeover'],
    [['Multiple authentication failures followed by a success.'], 'account_takeover'],
    [['UnauthorizedAccess:EC2/SSHBruteForce'], 'brute_force'],
    [['authentication_failures'], 'brute_force'],
    [['Impossible travel'], 'suspicious_login'],
    [['CryptoCurrency:EC2/BitcoinTool.B!DNS'], 'malware'],
    [["'Wacatac' malware was prevented"], 'malware'],
    [['Suspicious MS Office Child Process'], 'intrusion'],
    [['OS Credential Dumping', 'Credential Access'], 'intrusion'],
    [['SigninLogs'], 'suspicious_login'],
    [['Sign-in from an anonymous IP'], 'suspicious_login'],
    [['Host port scanned'], 'intrusion'],
    [['CredentialAccess'], 'intrusion'],
    [['Code signing certificate'], 'other'],
    [['Catalog index rebuilt'], 'other'],
    [['Antivirus service stopped'], 'other'],
    [['Determiner of the day'], 'other'],
    [['VPN reconnected'], 'other'],
    [['Offices in Scandinavia'], 'other'],
    [['Target disk usage'], 'other'],
    [[], 'other'],
  ])('reads %j as %s', (words, type) => expect(ofWords(...words)).toBe(type));

  it('uses type_mapping first, even if a key is only a part of a word', () => {
    const rules = {
      type_mapping: { impostor: 'bec', 'web-attack': 'my_type' },
      incident_type: 'spam',
    };
    const of = (...words: string[]) => typeOf({ words, usualType: 'other' }, rules);
    expect(of('IMPOSTOR')).toBe('bec');
    expect(of('phish', 'A Web Attack was seen')).toBe('my_type');
    expect(of('weather')).toBe('spam');
  });

  it('uses a known word of the event, then the type of the source, then the usual type', () => {
    const of = (words: string[], incident_type?: string) =>
      typeOf({ words, usualType: 'phishing' }, { incident_type });
    expect(of(['Malware'], 'spam')).toBe('malware');
    expect(of(['weather'], 'my_type')).toBe('my_type');
    expect(of(['weather'])).toBe('phishing');
    expect(of([])).toBe('phishing');
  });

  it('given a format → uses only words that the format knows, even if they are parts of a path', () => {
    const types = new Map([['exfiltration', 'data_exfiltration']]);
    const of = (word: string) => typeOf({ words: [word], types, usualType: 'other' }, {});
    expect(of('Effects/Exfiltration')).toBe('data_exfiltration');
    expect(of('Malware')).toBe('malware');
    expect(of('SSHBruteForce')).toBe('other');
  });
});
