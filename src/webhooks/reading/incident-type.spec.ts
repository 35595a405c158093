import { KNOWN_INCIDENT_TYPES } from '../../incidents/incident.js';
import { knownType, typeOf } from './incident-type.js';

describe('knownType', () => {
  it.each(KNOWN_INCIDENT_TYPES)('knows %s', (type) => expect(knownType(type)).toBe(type));

  it.each(['Data Exfiltration', 'DATA-EXFILTRATION', 'DataExfiltration', ' data_exfiltration '])(
    'knows %j, however it is written',
    (word) => expect(knownType(word)).toBe('data_exfiltration'),
  );

  it.each([
    undefined,
    '',
    'fishing',
    'phishing!',
    '__proto__',
    'constructor',
    `phishing${' '.repeat(200)}`,
  ])('does not know %j', (word) => expect(knownType(word)).toBeUndefined());

  it("translates a vendor's words, but no known one", () => {
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
  ])('takes %j for %s', (words, type) => expect(ofWords(...words)).toBe(type));

  it("asks the source's own mapping first, for a word or a part of one", () => {
    const rules = {
      typeMapping: { impostor: 'bec', 'web-attack': 'my_type' },
      incidentType: 'spam',
    };
    const of = (...words: string[]) => typeOf({ words, usualType: 'other' }, rules);
    expect(of('IMPOSTOR')).toBe('bec');
    expect(of('phish', 'A Web Attack was seen')).toBe('my_type');
    expect(of('weather')).toBe('spam');
  });

  it("takes the event's word when it is known, else the source's type, else the usual one", () => {
    expect(typeOf({ type: 'Malware', usualType: 'other' }, { incidentType: 'spam' })).toBe(
      'malware',
    );
    expect(typeOf({ type: 'weather', usualType: 'other' }, { incidentType: 'my_type' })).toBe(
      'my_type',
    );
    expect(typeOf({ type: 'weather', usualType: 'other' }, {})).toBe('other');
    expect(typeOf({ usualType: 'phishing' }, {})).toBe('phishing');
  });
});
