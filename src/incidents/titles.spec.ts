import fc from 'fast-check';
import { KNOWN_INCIDENT_TYPES } from './incident.js';
import { incidentTitle, titleOfTool, titleWithoutDetails, groupOf } from './titles.js';
import { LONGEST_TITLE, titleLine } from './raw-data-text.js';

type RawData = Readonly<Record<string, unknown>>;

const THIRTY = Array.from({ length: 30 }, (_, n) => n);

/** Facts that distinguish incidents of one source, each with a generator of raw data. */
const FACTS: readonly [string, (n: number) => RawData][] = [
  ['the user', (n) => ({ user: `user${n}` })],
  ['the host', (n) => ({ hostname: `WS-${n}` })],
  ['the subject', (n) => ({ subject: `Invoice "${n}"` })],
  ['the sender', (n) => ({ from: `Support <s${n}@example.net>` })],
  ['the recipient', (n) => ({ to: [`r${n}@example.com`] })],
  ['the address', (n) => ({ sourceIPAddress: `203.0.113.${n}` })],
  ['the file', (n) => ({ file_name: `invoice-${n}.exe` })],
  ['the destination', (n) => ({ destination_domain: `d${n}.example.net` })],
];

/** Generates incidents of one type that are equal in the usual facts of the type and differ in the named fact. */
const ALIKE: readonly [string, string, (n: number) => RawData][] = [
  [
    'data_exfiltration',
    'the source address',
    (n) => ({ src_ip: `10.0.0.${n}`, dst_ip: '203.0.113.9', bytes: 7 }),
  ],
  [
    'policy_violation',
    'the source address',
    (n) => ({ policy: 'No USB', host: 'WS-7', src_ip: `10.0.0.${n}` }),
  ],
  [
    'spam',
    'the address of the server',
    (n) => ({ subject: 'Win', from: 'win@example.net', source_ip: `203.0.113.${n}` }),
  ],
  [
    'bec',
    'the reply address',
    (n) => ({ from: 'ceo@example.com', to: 'a@example.com', reply_to: `x${n}@example.net` }),
  ],
  [
    'account_takeover',
    'the account',
    (n) => ({ account: `user${n}@example.com`, reason: 'Impossible travel' }),
  ],
];

describe('incidentTitle', () => {
  it.each<[string, RawData, string]>([
    [
      'phishing',
      {
        sender: 'ceo@examp1e.com',
        recipient: 'finance@example.com',
        subject: 'Urgent wire transfer',
      },
      'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com',
    ],
    ['phishing', { subject: 'Invoice', sender: 'x <b@c d>' }, 'Phishing: "Invoice" from x <b@c d>'],
    [
      'phishing',
      { Subject: 'Invoice', From: 'The CEO <ceo@example.net>', To: ['a@example.com', 'b'] },
      'Phishing: "Invoice" from ceo@example.net to a@example.com',
    ],
    [
      'bec',
      {
        subject: 'Are you at your desk?',
        from: { emailAddress: { name: 'CEO', address: 'ceo@example.net' } },
        to: [{ emailAddress: { name: 'Finance' } }],
      },
      'BEC: "Are you at your desk?" from ceo@example.net to Finance',
    ],
    ['spam', { sender_address: 'win@example.net' }, 'Spam from win@example.net'],
    [
      'malware',
      { threat: { name: 'Emotet' }, device: { hostname: 'FIN-LT-204' }, file_name: 'invoice.exe' },
      'Malware: Emotet in invoice.exe on FIN-LT-204',
    ],
    [
      'malware',
      { DetectName: 'NGAV', ComputerName: 'WS-7', FileName: 'a.exe', UserName: 'ada' },
      'Malware: NGAV in a.exe on WS-7 for ada',
    ],
    ['ransomware', { hostName: 'FS-01', family: 'LockBit' }, 'Ransomware: LockBit on FS-01'],
    [
      'suspicious_login',
      { user: 'ada', source_ip: '203.0.113.7', geo: { country: 'RU' } },
      'Suspicious login for ada from 203.0.113.7 (RU)',
    ],
    [
      'suspicious_login',
      {
        'user.name': 'ada',
        'host.name': 'web-01',
        'source.ip': '203.0.113.7',
        'kibana.alert.rule.name': 'Odd hours',
      },
      'Suspicious login: Odd hours for ada on web-01 from 203.0.113.7',
    ],
    [
      'account_takeover',
      { userPrincipalName: 'ada@example.com', riskDetail: 1, clientIP: '2001:db8::7' },
      'Account takeover for ada@example.com from 2001:db8::7',
    ],
    [
      'data_exfiltration',
      { policyName: 'Card numbers', file: { path: '/a/b.csv' }, user: 'ada', url: 'example.net' },
      'Data exfiltration: Card numbers in b.csv for ada to example.net',
    ],
    [
      'policy_violation',
      { policy: { name: 'No USB' }, username: 'ada', endpoint: 'WS-7' },
      'Policy violation: No USB for ada on WS-7',
    ],
    [
      'other',
      { search_name: 'Many failures', host: 'web-01', src: '203.0.113.7' },
      'Many failures on web-01 from 203.0.113.7',
    ],
    [
      'suspicious_login',
      { rule: 'Odd login', account: 'tenant-7', ip: '203.0.113.7' },
      'Suspicious login: Odd login from 203.0.113.7',
    ],
    [
      'policy_violation',
      { rule: 'No USB', account: 'tenant@example.com', user: 'ada' },
      'Policy violation: No USB for ada',
    ],
    [
      'account_takeover',
      { rule: 'New device', account: 'ada', ip: '203.0.113.7' },
      'Account takeover: New device for ada from 203.0.113.7',
    ],
    [
      'data_exfiltration',
      { src_ip: '10.0.0.5', dst_ip: '203.0.113.9', bytes: 7 },
      'Data exfiltration from 10.0.0.5 to 203.0.113.9',
    ],
    [
      'policy_violation',
      { policy: 'No USB', host: 'WS-7', src_ip: '10.0.0.5' },
      'Policy violation: No USB on WS-7 from 10.0.0.5',
    ],
    [
      'spam',
      { subject: 'Win', from: 'win@example.net', source_ip: '203.0.113.7' },
      'Spam: "Win" from win@example.net (203.0.113.7)',
    ],
    ['spam', { ip: '203.0.113.7', user: 'ada' }, 'Spam (203.0.113.7)'],
    [
      'bec',
      { From: 'CEO <ceo@example.com>', To: 'a@example.com', 'Reply-To': 'CEO <x@example.net>' },
      'BEC from ceo@example.com (reply to x@example.net) to a@example.com',
    ],
    [
      'bec',
      { from: 'ceo@example.com', replyTo: 'The CEO <CEO@example.com>' },
      'BEC from ceo@example.com',
    ],
    ['malware', { sha256: 'f'.repeat(64) }, `Malware in ${'f'.repeat(59)}…`],
    [
      'dns_tunnel',
      { rule: { level: 12, id: 5710, description: 'Long names' }, agent: { name: 'web-01' } },
      'Dns tunnel: Long names on web-01',
    ],
    [
      'port_scan',
      { event_type: 'alert', alert: { signature: 'Scan of many ports' }, src_ip: '203.0.113.7' },
      'Port scan: Scan of many ports from 203.0.113.7',
    ],
  ])('returns the title of %s with %j', (type, rawData, title) => {
    expect(incidentTitle(type, rawData, 'siem')).toBe(title);
  });

  describe.each(KNOWN_INCIDENT_TYPES)('for the type %s', (type) => {
    it.each(FACTS)('returns thirty different titles if only %s differs', (_, rawData) => {
      const titles = THIRTY.map((n) => incidentTitle(type, rawData(n), 'siem'));
      expect(new Set(titles).size).toBe(THIRTY.length);
    });

    it('returns thirty different titles if only the rule differs', () => {
      const titles = THIRTY.map((n) =>
        incidentTitle(type, { rule: { name: `Rule ${n}` } }, 'siem'),
      );
      expect(new Set(titles).size).toBe(THIRTY.length);
    });

    it.each(FACTS)(
      'returns thirty different titles for alerts of one rule if only %s differs',
      (_, rawData) => {
        const words = 'Something happened';
        const titles = THIRTY.map((n) => titleOfTool(type, words, rawData(n)));
        expect(new Set(titles).size).toBe(THIRTY.length);
        expect(titles.filter((title) => !title?.startsWith(words))).toEqual([]);
      },
    );
  });

  it.each(ALIKE)(
    'for the type %s, returns thirty different titles if only %s differs',
    (type, _, rawData) => {
      const titles = THIRTY.map((n) => incidentTitle(type, rawData(n), 'siem'));
      expect(new Set(titles).size).toBe(THIRTY.length);
      const words = 'Something happened';
      const ofTool = THIRTY.map((n) => titleOfTool(type, words, rawData(n)));
      expect(new Set(ofTool).size).toBe(THIRTY.length);
    },
  );

  it('uses at most two facts of other types, and only if the facts of its own type are missing', () => {
    const rawData = { source_ip: '203.0.113.7', host: 'WS-7', user: 'ada', country: 'RU' };
    expect(incidentTitle('phishing', rawData, 'gateway')).toBe('Phishing for ada on WS-7');
    expect(incidentTitle('phishing', { ...rawData, sender: 'x@example.net' }, 'gateway')).toBe(
      'Phishing from x@example.net',
    );
    expect(incidentTitle('malware', { subject: 'Invoice', to: 'a@example.com' }, 'edr')).toBe(
      'Malware: "Invoice" to a@example.com',
    );
  });

  it('contains each fact once', () => {
    const rawData = { title: 'Malware found on WS-7 in a.exe', host: 'ws-7', file: 'a.exe' };
    expect(incidentTitle('malware', rawData, 'edr')).toBe(rawData.title);
    const login = { title: 'Sign-in by TRUST admin', user: 'admin', country: 'RU' };
    expect(incidentTitle('suspicious_login', login, 'idp')).toBe(
      'Suspicious login: Sign-in by TRUST admin (RU)',
    );
  });

  it('keeps mail text in one pair of quotes, even if the text contains a quote', () => {
    const rawData = { subject: 'Hi" from x@example.net.example.com', sender: 'x@example.net' };
    expect(incidentTitle('phishing', rawData, 'gateway')).toBe(
      `Phishing: "Hi' from x@example.net.example.com" from x@example.net`,
    );
  });

  it.each<[string, RawData]>([
    ['nothing', {}],
    ['words for unknown values', { subject: 'N/A', sender: '-', recipient: 'unknown', title: ' ' }],
    [
      'values of other kinds',
      { subject: null, sender: true, recipient: [], title: {}, from: [[]] },
    ],
    ['invisible characters', { subject: '\u0000\u202e\u2066\u200b\ufeff\u3164\u2028' }],
    ['inherited keys', Object.create({ subject: 'Inherited' }) as RawData],
    ['keys such as __proto__', JSON.parse('{"__proto__":{"subject":"a"},"constructor":1}')],
    ['a name that is nested too deep', { subject: [[[['deep']]]] }],
  ])('falls back to type and source if raw data has %s', (_, rawData) => {
    expect(incidentTitle('phishing', rawData, 'email-gateway')).toBe('Phishing from email-gateway');
  });

  it('cuts long texts to the maximum title length', () => {
    const long = '€'.repeat(250_000);
    const title = incidentTitle(
      'phishing',
      { subject: long, sender: `s${long}`, to: `r${long}` },
      long,
    );
    expect(title).toMatch(/^Phishing: "€{99}…" from s€{58}… to r€+…$/);
    expect(title.length).toBeLessThanOrEqual(LONGEST_TITLE);
    expect(titleWithoutDetails('z'.repeat(64), long).length).toBeLessThanOrEqual(LONGEST_TITLE);
  });

  it('is one storable line of 1 to 200 characters for any raw data', () => {
    const key = fc.constantFrom('subject', 'from', 'title', 'host', 'user', 'data', 'name', 'file');
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double(),
        fc.constantFrom('\ud800', '\u0000', '😀'.repeat(200), null, true),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(key, tie('value')),
      ),
    }));
    const type = fc.oneof(fc.constantFrom(...KNOWN_INCIDENT_TYPES), fc.constant('a__'));
    fc.assert(
      fc.property(type, fc.dictionary(key, value), text, (incidentType, rawData, source) => {
        const title = incidentTitle(incidentType, rawData, source);
        expect(title).toMatch(/^(?=.*\S)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u);
        expect(title.length).toBeLessThanOrEqual(LONGEST_TITLE);
        expect(title.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('titleOfTool', () => {
  it.each<[string, string, RawData, string]>([
    [
      'suspicious_login',
      'sshd: brute force - web-01',
      { host: 'web-01', user: 'root', ip: '203.0.113.7' },
      'sshd: brute force - web-01 for root from 203.0.113.7',
    ],
    [
      'malware',
      'Known Malware: xmrig (linux-build-2, jenkins)',
      { FileName: 'xmrig', Hostname: 'linux-build-2', UserName: 'jenkins' },
      'Known Malware: xmrig (linux-build-2, jenkins)',
    ],
    [
      'phishing',
      'Email messages removed after delivery',
      { subject: 'Invoice', sender: 'The CEO <x@example.net>', recipient: 'a@example.com' },
      'Email messages removed after delivery from x@example.net to a@example.com',
    ],
    ['other', 'Disk full on DB-1', { instance: 'db-1' }, 'Disk full on DB-1'],
    ['phishing', 'Reported', { subject: 'Say "hi"' }, `Reported "Say 'hi'"`],
    ['other', 'Disk full', {}, 'Disk full'],
    [
      'suspicious_login',
      'User login to Okta',
      { user: 'ada', outcome: 'failed', ip: '203.0.113.7' },
      'User login to Okta (failed) for ada from 203.0.113.7',
    ],
    ['brute_force', 'Too many failed logins', { outcome: 'failed' }, 'Too many failed logins'],
    [
      'malware',
      'CredentialDumping - WS-7',
      { host: 'WS-7', user: 'ada', file: String.raw`C:\Windows\rundll32.exe` },
      'CredentialDumping - WS-7 in rundll32.exe for ada',
    ],
    ['other', 'Keys were used elsewhere.', { user: 'ada' }, 'Keys were used elsewhere for ada'],
  ])(
    'given an alert of the type %s with the title %j, appends the missing facts of %j',
    (type, words, raw, title) => {
      expect(titleOfTool(type, words, raw)).toBe(title);
    },
  );

  it('shows only the last segment of a path of a resource', () => {
    const resource = '/subscriptions/0000-a1/resourcegroups/pay/vaults/pay-keys';
    const title = (words: string) => titleOfTool('policy_violation', words, { resource });
    expect(title('Access policy changed')).toBe('Access policy changed on pay-keys');
    expect(title('Access policy changed - pay-keys')).toBe('Access policy changed - pay-keys');
  });

  it('shows no id of an object without a name, and shows no cloud account as a person', () => {
    expect(titleOfTool('other', 'Impossible travel', { agent: { id: 'PLH1HKV' } })).toBe(
      'Impossible travel',
    );
    expect(titleOfTool('intrusion', 'DDoS', { account_name: 'Example' })).toBe('DDoS');
  });

  it('keeps room for facts after a long title, and does not repeat long values of the title', () => {
    const arn = `arn:aws:s3:::${'x'.repeat(80)}`;
    expect(titleOfTool('other', `Read (${arn})`, { resource: arn })).toBe(`Read (${arn})`);
    const title = titleOfTool('malware', 'w'.repeat(10_000), {
      host: 'h'.repeat(10_000),
      user: `\u202e${'u'.repeat(10_000)}`,
    })!;
    expect(title).toMatch(/^w{99}… on h{59}… for u+…$/);
    expect(title.length).toBeLessThanOrEqual(LONGEST_TITLE);
  });

  it('is undefined for a text without visible characters', () => {
    expect(titleOfTool('malware', '\u200b\u202e ', { host: 'WS-7' })).toBeUndefined();
  });
});

describe('titleLine', () => {
  it('makes one line of any text, and returns undefined for a text without visible characters', () => {
    expect(titleLine(' a\r\n\tb\u0000c\u2029d\u202ee ')).toBe('a b c de');
    expect(titleLine('half \ud83d of a pair')).toBe('half \ufffd of a pair');
    expect(titleLine('\u00ad \u2800\u3164')).toBeUndefined();
    expect(titleLine('')).toBeUndefined();
  });

  it('never cuts inside a character', () => {
    expect(titleLine('x'.repeat(200))).toBe('x'.repeat(200));
    expect(titleLine('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(titleLine(`${'x'.repeat(198)}😀😀`)).toBe(`${'x'.repeat(198)}…`);
    expect(titleLine('😀😀', 3)).toBe('😀…');
  });
});

const group = (title: string, more: object = {}) =>
  groupOf({ source: 'wazuh', incident_type: 'malware', title, fields: {}, ...more });

describe('the group of an incident', () => {
  it.each([
    ['Brute force from 203.0.113.9 on WS-042', 'Brute force from 198.51.100.7 on  WS-1'],
    ['Mail "Invoice 7" from eve@evil.example', 'mail "Pay now" from bob@evil.example'],
    [String.raw`Beacon in C:\a.exe`, 'Beacon in /tmp/b'],
  ])('is the same for %j and %j', (one, other) => {
    expect(group(one)).toBe(group(other));
  });

  it('is the same for different hosts, users and files of one rule', () => {
    const of = (host: string, user: string, file: string) =>
      group(`MaliciousFile - ${host} for ${user} in ${file}`, {
        fields: { host, user, file: `/opt/${file}` },
      });
    expect(of('mail', 'd.rossi', 'updater')).toBe(of('files', 'mia', 'setup'));
    expect(group('Beacon on mail', { fields: { host: 'mail' } })).not.toBe(
      group('Scan on mail', { fields: { host: 'mail' } }),
    );
  });

  it('differs by source, type and the words of the title', () => {
    const groups = [
      group('Beacon on WS-042'),
      group('Brute force on WS-042'),
      group('Beacon on WS-042', { source: 'falcon' }),
      group('Beacon on WS-042', { incident_type: 'other' }),
    ];
    expect(new Set(groups).size).toBe(groups.length);
  });

  it('is computed in linear time for a title full of quotes', () => {
    expect(group('"'.repeat(300) + 'a'.repeat(300))).toHaveLength(32);
  });
});
