import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { KNOWN_INCIDENT_TYPES, SEVERITIES } from '../../incidents/incident.js';
import { FORMATS, readAs } from './formats.js';
import type { Json, JsonObject } from './json.js';
import { type Alert, typeOf } from './words.js';

const FOLDER = join(__dirname, '../../../test/fixtures/webhooks/formats');
const read = (path: string) => JSON.parse(readFileSync(join(FOLDER, path), 'utf8')) as Json;

const NAMES = Object.keys(FORMATS) as (keyof typeof FORMATS)[];
const formatsOf = (event: Json) => NAMES.filter((name) => readAs(name, event));

const samples = NAMES.flatMap((format) =>
  readdirSync(join(FOLDER, format)).map((file) => ({
    path: `${format}/${basename(file, '.json')}`,
    format,
    event: read(`${format}/${file}`),
  })),
);
type Sample = (typeof samples)[number];

const EXPECTED: Readonly<Record<string, Omit<Alert, 'event'>>> = {
  'generic/home-grown-monitor': {
    eventId: 'vpn-20260203-0042',
    title: 'Login from two countries within an hour (198.51.100.23, alice)',
    type: 'suspicious_login',
    usualType: 'other',
    severity: { said: 'high' },
    lift: { user: 'alice', ip: '198.51.100.23' },
  },
  'generic/reported-mail': {
    eventId: 'rep-7781',
    title: 'phishing: "Urgent wire transfer" (from ceo@examp1e.test, to finance@example.com)',
    type: 'phishing',
    usualType: 'other',
    severity: { said: 'medium' },
    lift: {
      message_id: '<4f2a1c@mail.example.net>',
      sender: 'ceo@examp1e.test',
      recipient: 'finance@example.com',
      subject: 'Urgent wire transfer',
      received_at: '2026-02-03T08:57:12Z',
    },
  },
  'generic/without-details': {
    eventId: '90210',
    title: 'disk encryption disabled (laptop-17)',
    usualType: 'other',
    severity: { said: '3' },
    lift: { host: 'laptop-17' },
  },
  'email_alert/specified-shape': {
    eventId: 'b7e7c1f2-5c0f-4e2b-9d1a-0a6f3f1f2c11',
    title: 'Phish: "Your invoice is overdue" (from billing@examp1e.test, to anna@example.com)',
    type: 'phishing',
    usualType: 'phishing',
    severity: { said: 'High' },
    lift: {
      sender: 'billing@examp1e.test',
      recipient: 'anna@example.com',
      recipients: 'anna@example.com, ben@example.com',
      subject: 'Your invoice is overdue',
    },
  },
  'email_alert/mail-message-entity': {
    eventId: 'fa5c60f0-91a5-4b6e-a3a1-08de62d3c0aa',
    title: 'InitialAccess: "Updated payroll form" (from hr@examp1e.test, to anna@example.com)',
    usualType: 'phishing',
    severity: { said: 'Informational' },
    lift: {
      message_id: '<a91f@examp1e.test>',
      sender: 'hr@examp1e.test',
      recipient: 'anna@example.com',
      subject: 'Updated payroll form',
      received_at: '2026-02-03T07:48:31Z',
    },
  },
  'email_alert/analyzed-message-evidence': {
    eventId: 'da638f1c-2f0a',
    title: 'Malware: "Scan_0042.pdf" (from scanner@example.com, to office@example.com)',
    type: 'malware',
    usualType: 'phishing',
    severity: { said: 'medium' },
    lift: {
      message_id: '<CAF77@mail.example.net>',
      sender: 'scanner@example.com',
      recipient: 'office@example.com',
      subject: 'Scan_0042.pdf',
      received_at: '2026-02-03T11:00:41Z',
    },
  },
  'endpoint_alert/specified-shape': {
    eventId: 'ldt:1f2e3d4c:1002003004',
    title: 'Credential dumping tool (WS-FIN-014)',
    usualType: 'malware',
    severity: { said: '4', number: 4, level: 'high' },
    lift: { host: 'WS-FIN-014' },
  },
  'endpoint_alert/detection-summary': {
    eventId: 'ldt:9f8e7d6c5b4a39281706f5e4d3c2b1a0:38684386611',
    title: 'NGAV: toolbar.exe (DESKTOP-7Q2, mallory)',
    type: 'malware',
    usualType: 'malware',
    severity: { said: 'Low', number: 2, level: 'low' },
    lift: {
      host: 'DESKTOP-7Q2',
      user: 'mallory',
      file: 'toolbar.exe',
      hash: '0b2cde5b355bda69aeb15159fa98b5554053f0936259a53c6dfb0934389238a2',
      process: '"C:\\Users\\mallory\\Downloads\\toolbar.exe" -Embedding',
      rule: 'PUP',
      description: 'A file that is known as adware was started.',
      link: 'https://falcon.example.com/activity/detections/detail/9f/1',
    },
  },
  'endpoint_alert/epp-detection-summary': {
    eventId:
      '0123456789abcdef0123456789abcdef:ind:9f8e7d6c5b4a39281706f5e4d3c2b1a0:1770106130613520072-30115-331',
    title: 'Known Malware: xmrig (linux-build-2, jenkins)',
    type: 'malware',
    usualType: 'malware',
    severity: { said: 'High', number: 70, level: 'high' },
    lift: {
      host: 'linux-build-2',
      user: 'jenkins',
      file: 'xmrig',
      hash: '29aa689f38158d2e8941fa54e436f0260890af31cecad1e8799e5c2df7bc1ecc',
      process: '/tmp/.x/xmrig -o pool.example.net:443',
      rule: 'Malicious File',
      description: 'A process that belongs to a file of bad repute was started.',
      link: 'https://falcon.example.com/activity-v2/detections/0123:ind:9f8e:1770-30115',
    },
  },
  'endpoint_alert/epp-on-demand-scan': {
    eventId: '7781920',
    title: 'OnDemandScan: old-installer.vmx (FS-02)',
    usualType: 'malware',
    severity: { said: '30.5', number: 30.5, level: 'low' },
    lift: { host: 'FS-02', file: 'old-installer.vmx', rule: 'Sensor-based ML' },
  },
  'endpoint_alert/idp-detection-summary': {
    eventId: '0123:ind:4567:11111111-2222-4333-8444-555555555555',
    title: 'First login of this user on this machine (pc01.example.com, johnb)',
    usualType: 'suspicious_login',
    severity: { said: '7', number: 7, level: 'low' },
    lift: {
      host: 'pc01.example.com',
      user: 'johnb',
      ip: '192.0.2.61',
      rule: 'Valid Accounts',
      description: 'The user was not seen on the machine before.',
      link: 'https://falcon.example.com/identity-protection/detections/1',
    },
  },
  'endpoint_alert/identity-protection': {
    eventId: 'INC-123',
    title: 'UNUSUAL_ENDPOINT_USE (WS-114, carol)',
    usualType: 'suspicious_login',
    severity: { said: 'INFO', number: 1, level: 'low' },
    lift: { host: 'WS-114', user: 'carol' },
  },
  'endpoint_alert/xdr-detection-summary': {
    eventId: '0123:ind:4567:xdr|eee4a5c51106f0419184d0dd08fb05bc',
    title: 'Attack tool and guessed passwords (XDR-WIN10)',
    usualType: 'malware',
    severity: { said: '90', number: 90, level: 'critical' },
    lift: {
      host: 'XDR-WIN10',
      description: 'Encrypted traffic of an attack tool and many failed logins from one address.',
    },
  },
  'endpoint_alert/data-protection-detection-summary': {
    eventId: '2cc98db1:data-protection:5d77282a:180d01b9',
    title: 'Customer list uploaded to web mail: customers.csv (DESKTOP-OM9, Bob)',
    type: 'data_exfiltration',
    usualType: 'data_exfiltration',
    severity: { said: 'Critical', number: 90, level: 'critical' },
    lift: {
      host: 'DESKTOP-OM9',
      user: 'Bob',
      file: 'customers.csv',
      rule: 'Exfiltration Over Web Service',
    },
  },
  'log_alert/stock-webhook': {
    eventId: `scheduler__admin__search__RMD5a1b2c3d4_at_1770105600_42:HASH`,
    title: 'Many failed logins, then one that worked (dc-01.example.com, svc-backup)',
    usualType: 'other',
    severity: { said: 'critical' },
    lift: {
      host: 'dc-01.example.com',
      user: 'svc-backup',
      ip: '198.51.100.9',
      link: 'http://splunk.example.com:8000/app/search/@go?sid=scheduler__admin__search__RMD5a1b2c3d4_at_1770105600_42',
    },
  },
  'log_alert/stock-webhook-unsaved': {
    eventId: `admin__admin__search__search1_1770105661.77:HASH`,
    title: 'linux_secure',
    usualType: 'other',
    lift: {
      link: 'http://splunk.example.com:8000/app/search/@go?sid=admin__admin__search__search1_1770105661.77',
    },
  },
  'log_alert/specified-shape': {
    title: 'Failed logins on servers: 4625 (WEB-07)',
    usualType: 'other',
    lift: { host: 'WEB-07' },
  },
  'log_alert/several-values': {
    eventId: `rt_scheduler__admin__sec__RMD5ffee_at_1770109200_1.9:HASH`,
    title: 'Rows read by users: Unusual amount of rows read (db-1, dave)',
    type: 'data_exfiltration',
    usualType: 'other',
    severity: { said: 'high' },
    lift: {
      host: 'db-1',
      user: 'dave',
      rule: 'Unusual amount of rows read',
      link: 'https://splunk.example.com/app/sec/@go?sid=rt',
    },
  },
  'ocsf/guardduty-shaped': {
    eventId: 'arn:aws:securityhub:eu-central-1:111122223333:finding/7ab2',
    title:
      'A bucket was read from an address of an anonymising network (arn:aws:s3:::example-invoices)',
    type: 'data_exfiltration',
    usualType: 'other',
    severity: { said: 'High', number: 4, level: 'high' },
    lift: {},
  },
  'ocsf/endpoint-finding': {
    eventId: '8c1f0f5e-77d1-4a6c-9b6e-2f1f5f3d6a10',
    title: 'Files are being encrypted (FS-01, svc-files)',
    type: 'ransomware',
    usualType: 'other',
    severity: { said: 'Fatal', number: 6, level: 'critical' },
    lift: { rule: 'Mass rename', host: 'FS-01', user: 'svc-files' },
  },
  'ocsf/evidences-and-own-severity': {
    eventId: '4711',
    title: 'Macro starts a shell (WS-22, frank@example.com)',
    type: 'malware',
    usualType: 'other',
    severity: { said: 'P2', number: 99 },
    lift: {
      rule: 'Macro starts a shell',
      process: 'powershell.exe',
      host: 'WS-22',
      user: 'frank@example.com',
    },
  },
  'ocsf/data-security-finding': {
    eventId: 'dlp-9',
    title: 'Card numbers in a public share (gina)',
    usualType: 'policy_violation',
    severity: { said: '2', number: 2, level: 'low' },
    lift: { user: 'gina' },
  },
};

/** The hash that is part of the id has tests of its own. */
const withoutHash = ({ eventId, mappedWords: _, ...alert }: Alert) => ({
  ...alert,
  eventId: eventId?.replace(/:[0-9a-f]{64}$/, ':HASH'),
});

describe('formats', () => {
  it('have exactly one expectation for each sample', () => {
    expect(samples.map(({ path }) => path).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(samples)('read all parts of $path', ({ path, format, event }) => {
    const alert = readAs(format, event);
    expect(alert && withoutHash(alert)).toEqual({ event, ...EXPECTED[path] });
  });

  it.each([
    ['generic', 'encryption'],
    ['email_alert', 'PHISH'],
    ['endpoint_alert', 'credential'],
    ['log_alert', 'failed logins'],
    ['ocsf', 'encrypted'],
  ])('give type_mapping the words of %s', (name, word) => {
    const alerts = samples
      .filter(({ format }) => format === name)
      .map(({ format, event }) => readAs(format, event)!);
    const types = alerts.map((alert) => typeOf(alert, { type_mapping: { [word]: 'site_type' } }));
    expect(types).toContain('site_type');
  });

  it.each(samples)('$path fits only its format', ({ format, event }) => {
    expect(formatsOf(event)).toEqual([format]);
    expect(readAs('auto', event)).toEqual(readAs(format, event));
  });

  it('given an event that fits two formats → auto reads it as neither', () => {
    const sampleOf = (name: string) => samples.find(({ format }) => format === name)!;
    const twofold = (a: Sample, b: Sample) => ({ ...(a.event as object), ...(b.event as object) });
    const [first, second] = [sampleOf('log_alert'), sampleOf('ocsf')];
    expect(readAs('log_alert', twofold(first, second))).toBeDefined();
    expect(readAs('ocsf', twofold(first, second))).toBeDefined();
    expect(readAs('auto', twofold(first, second))).toBeUndefined();
    expect(readAs('auto', twofold(second, first))).toBeUndefined();
  });
});

/** Events of other tools, which have a field or two in common with ours. */
const STRANGERS: readonly (readonly [string, Json])[] = [
  ['a Suricata line', { event_type: 'alert', timestamp: 't', alert: { severity: 1 } }],
  ['an event with a type and its own data', { event_type: 'user.created', data: { id: 1 } }],
  [
    'an Okta event hook',
    { eventType: 'com.okta.event_hook', eventId: 'e', source: 's', data: { events: [{}] } },
  ],
  ['an Event Grid event', { id: '1', eventType: 'x', subject: 's', data: { sender: 'a@b.test' } }],
  [
    'a login to the console in the event stream',
    {
      metadata: { eventType: 'AuthActivityAuditEvent', eventCreationTime: 1 },
      event: { UserId: 'admin', OperationName: 'userAuthenticate', Success: true },
    },
  ],
  ['an answer of JSON-RPC', { jsonrpc: '2.0', id: 1, result: { ok: true } }],
  [
    'another class of OCSF',
    { class_uid: 3002, severity_id: 1, finding_info: { uid: 'u', title: 't' } },
  ],
  ['a Detection Finding without a finding', { class_uid: 2004, severity_id: 4, message: 'm' }],
  ['an array of events', [{ event_type: 'malware', data: { alert_id: 'a' } }]],
];

describe('events of other tools', () => {
  it.each(STRANGERS)('fit no format: %s', (_, event) => {
    expect(formatsOf(event)).toEqual([]);
    expect(readAs('auto', event)).toBeUndefined();
  });
});

const LONG = 'x'.repeat(100_000);
const WRONG: readonly Json[] = [
  null,
  true,
  0,
  -1,
  2004,
  1e300,
  JSON.rawJSON('12345678901234567890'),
  '',
  ' \u2028\n ',
  'a\u0000\ud800b\u202e\nc',
  LONG,
  [],
  [null, 'x'],
  [[['deep']]],
  {},
  { 'odd key': {} },
  JSON.parse('{"__proto__": {"title": "t"}, "constructor": 1, "length": 5}') as Json,
];

/** Each value of the event in turn, and the event itself, replaced. */
function* replaced(value: Json, by: Json): Generator<Json> {
  yield by;
  if (Array.isArray(value)) {
    for (const [at, item] of (value as readonly Json[]).entries()) {
      for (const changed of replaced(item, by)) yield value.with(at, changed) as Json;
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value as Record<string, Json>)) {
      for (const changed of replaced(item, by)) yield { ...value, [key]: changed };
    }
  }
}

function problemsOf(alert: Alert, event: Json): string[] {
  const { eventId, title, type, usualType, severity, lift } = alert;
  const types: readonly (string | undefined)[] = [...KNOWN_INCIDENT_TYPES, undefined];
  const said: Readonly<Record<string, boolean>> = {
    event: alert.event === event,
    eventId: eventId === undefined || (typeof eventId === 'string' && eventId.trim() !== ''),
    title: title === undefined || (/^[^\n\r\u2028\u2029]+$/.test(title) && title.length < 1_500),
    wellFormed: title?.isWellFormed() ?? true,
    type: types.includes(type) && types.includes(usualType),
    severity: severity === undefined || severity.said.trim() !== '',
    level: severity?.level === undefined || SEVERITIES.includes(severity.level),
    number: severity?.number === undefined || Number.isFinite(severity.number),
    lift: Object.values(lift ?? {}).every((text) => typeof text === 'string'),
  };
  return Object.keys(said).filter((part) => !said[part]);
}

describe('damaged events', () => {
  it.each(samples)('are read as valid values or not at all: $path', ({ event }) => {
    for (const wrong of WRONG) {
      for (const changed of replaced(event, wrong)) {
        for (const format of [...NAMES, 'auto'] as const) {
          const alert = readAs(format, changed);
          if (alert) expect(problemsOf(alert, changed)).toEqual([]);
        }
      }
    }
  });

  it('have only own members', () => {
    const inherited = Object.create({ event_type: 'malware', data: { alert_id: 'a' } }) as Json;
    expect(readAs('auto', inherited)).toBeUndefined();
    const named = JSON.parse('{"__proto__": {"event_type": "x", "data": {"alert_id": "a"}}}');
    expect(readAs('auto', named)).toBeUndefined();
  });
});

const readGeneric = (data: JsonObject, event_type = 'policy_violation') =>
  readAs('generic', { event_type, data });

describe('an event of the format generic', () => {
  it.each<JsonObject>([{ alert_id: 'a' }, { alert_id: 7 }, { severity: 'low' }, { details: {} }])(
    'is recognised by %j',
    (data) => expect(readGeneric(data)).toBeDefined(),
  );

  it.each<JsonObject>([{}, { alert_id: '' }, { alert_id: {} }, { severity: [] }, { details: 'x' }])(
    'is not recognised by %j',
    (data) => expect(readGeneric(data)).toBeUndefined(),
  );

  it('takes its type from event_type if the type is known', () => {
    expect(readGeneric({ alert_id: 'a' })?.type).toBe('policy_violation');
    expect(readGeneric({ alert_id: 'a' }, 'Account-Takeover')?.type).toBe('account_takeover');
    expect(readGeneric({ alert_id: 'a' }, 'weather')).toMatchObject({
      type: undefined,
      usualType: 'other',
    });
  });

  it('lifts mail fields only if it has a sender or a message id', () => {
    const lifted = (details: JsonObject) => readGeneric({ details })?.lift;
    expect(lifted({ subject: 's', sender: 'a@example.net' })).toEqual({
      subject: 's',
      sender: 'a@example.net',
    });
    expect(lifted({ message_id: '<m@x>' })).toEqual({ message_id: '<m@x>' });
    expect(lifted({ subject: 'CN=example', recipient: 'x' })).toEqual({});
  });

  it('takes parts of the title from details first, then from data', () => {
    expect(readGeneric({ host: 'beside', details: { host: 'in', rule_name: 'R' } })?.title).toBe(
      'R (in)',
    );
    expect(readGeneric({ severity: 'low', host: 'beside', user: 'u' })?.title).toBe(
      'policy violation (beside, u)',
    );
  });
});

const readMail = (over: JsonObject, data: Json = { sender: 'a@example.net' }) =>
  readAs('email_alert', { eventType: 'Alert', category: 'Other things', data, ...over });

describe('an event of the format email_alert', () => {
  it.each([
    ['Phish', 'phishing'],
    ['HighConfPhish', 'phishing'],
    ['High confidence phish', 'phishing'],
    ['Malware', 'malware'],
    ['Spam', 'spam'],
    ['Bulk', 'spam'],
    ['BusinessEmailCompromise', 'bec'],
    ['DataLossPrevention', 'policy_violation'],
    ['InitialAccess', undefined],
    ['ThreatManagement', undefined],
  ])('of category %s has the type %s', (category, type) =>
    expect(readMail({ category })).toMatchObject({ type, usualType: 'phishing' }),
  );

  it('quotes the subject in the title, because it could imitate text of the tool', () => {
    const data = { sender: 'a@example.net', subject: 'Closed (from ceo@example.com) "ok"' };
    expect(readMail({}, data)?.title).toBe(
      `Other things: "Closed (from ceo@example.com) 'ok'" (from a@example.net)`,
    );
  });

  it('takes the type from eventType if the category has none', () => {
    expect(readMail({ eventType: 'Malware' })?.type).toBe('malware');
    expect(readMail({ eventType: 'Malware', category: 'Spam' })?.type).toBe('spam');
  });

  it.each([
    [
      { recipients: ['a@example.com', 'b@example.com', 'a@example.com'] },
      { recipient: 'a@example.com', recipients: 'a@example.com, b@example.com' },
    ],
    [{ recipients: [{ emailAddress: 'c@example.com' }] }, { recipient: 'c@example.com' }],
    [{ sender: { address: 'd@example.net' } }, { sender: 'd@example.net' }],
    [{ P1Sender: 'p1@example.net', P2Sender: 'p2@example.net' }, { sender: 'p2@example.net' }],
    [{ NetworkMessageId: 'n', InternetMessageId: '<i@x>' }, { message_id: '<i@x>' }],
    [{ NetworkMessageId: 'n' }, { message_id: 'n' }],
    [{ subject: 's', receivedAt: 'yesterday' }, { subject: 's' }],
    [{ subject: 's', sender: `${'x'.repeat(998)}@example.net` }, { subject: 's' }],
    [{ subject: 's', recipients: [null], sender: {} }, { subject: 's' }],
  ])('lifts from %j: %j', (data, lift) => expect(readMail({}, data)?.lift).toEqual(lift));

  it.each([
    ['without data', { data: null }],
    ['when data tells nothing of a mail', { data: { user: 'alice' } }],
    ['when eventType is a number', { eventType: 7 }],
    ['without a word on what it is about', { category: null }],
  ])('is not recognised %s', (_, over) => expect(readMail(over as JsonObject)).toBeUndefined());

  it.each(['entityType', 'creationTime'])('is also recognised by its %s', (name) =>
    expect(readMail({ category: null, [name]: 'x' })).toBeDefined(),
  );
});

const readEndpoint = (event: JsonObject, eventType: Json = 'EppDetectionSummaryEvent') =>
  readAs('endpoint_alert', { metadata: { eventType }, event: { CompositeId: 'c:1', ...event } });

describe('an event of the format endpoint_alert', () => {
  it.each([
    [1, 'low'],
    [2, 'low'],
    [3, 'medium'],
    [4, 'high'],
    [5, 'critical'],
    ['4', 'high'],
    [0, 'low'],
    [0.5, 'low'],
    [4.5, 'low'],
    [6, 'low'],
    [39.9, 'low'],
    [40, 'medium'],
    [59.9, 'medium'],
    [60, 'high'],
    [79.9, 'high'],
    [80, 'critical'],
    [100, 'critical'],
    [100.5, undefined],
    [-1, undefined],
    ['four', undefined],
    [JSON.rawJSON('70.000000000000000001'), 'high'],
  ] as const)('has for severity %p the level %s', (Severity, level) => {
    expect(readEndpoint({ Severity })?.severity?.level).toBe(level);
  });

  it('prefers the word of the severity to the number', () => {
    expect(readEndpoint({ Severity: 90, SeverityName: 'Low' })?.severity).toEqual({
      said: 'Low',
      number: 90,
      level: 'critical',
    });
    expect(readEndpoint({ Severity: 30, SeverityName: ' ' })?.severity?.said).toBe('30');
    expect(readEndpoint({})?.severity).toBeUndefined();
  });

  it('keeps all digits of a numeric id', () => {
    const id = JSON.rawJSON('1719309930613520072');
    expect(readEndpoint({ CompositeId: id })?.eventId).toBe('1719309930613520072');
    expect(readEndpoint({ DetectId: 'ldt:1' })?.eventId).toBe('ldt:1');
  });

  it.each([
    [{ Tactic: 'Malware', Technique: 'Ransomware' }, 'ransomware'],
    [{ Tactic: 'Impact', Technique: 'Data Encrypted for Impact' }, 'ransomware'],
    [{ Tactic: 'Exfiltration', Technique: 'Exfiltration Over C2 Channel' }, 'data_exfiltration'],
    [{ Tactic: 'Malware', Technique: 'PUP' }, 'malware'],
    [{ Tactic: 'Initial Access', Technique: 'Valid Accounts' }, undefined],
  ])('with %j has the type %s', (event, type) => expect(readEndpoint(event)?.type).toBe(type));

  it.each([
    ['DetectionSummaryEvent', 'malware'],
    ['MobileDetectionSummaryEvent', 'malware'],
    ['IdpDetectionSummaryEvent', 'suspicious_login'],
    ['IDENTITYPROTECTIONEVENT', 'suspicious_login'],
    ['DataProtectionDetectionSummaryEvent', 'data_exfiltration'],
  ])('of the stream %s has the usual type %s', (stream, usual) =>
    expect(readEndpoint({}, stream)?.usualType).toBe(usual),
  );

  it('requires an id, or a name and a severity', () => {
    const bare = (event: JsonObject) =>
      readAs('endpoint_alert', { metadata: { eventType: 'X' }, event });
    expect(bare({ Name: 'n', Severity: 3 })).toMatchObject({ title: 'n', eventId: undefined });
    expect(bare({ DetectId: 'd' })).toMatchObject({ title: 'X', eventId: 'd' });
    expect(bare({ Name: 'n' })).toBeUndefined();
    expect(bare({ Severity: 3 })).toBeUndefined();
    expect(readEndpoint({}, 7)).toBeUndefined();
  });
});

const idOf = (result: Json, sid: Json = 's1') => readAs('log_alert', { sid, result })?.eventId;

describe('the id of an event of the format log_alert', () => {
  it('is the sid with the SHA-256 of the row', () => {
    expect(idOf({})).toBe('s1:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });

  it('does not depend on the order of keys', () => {
    const row = { a: '1', b: { c: '2', d: ['x', { e: 1, f: 2 }] } };
    const turned = { b: { d: ['x', { f: 2, e: 1 }], c: '2' }, a: '1' };
    expect(idOf(row)).toBe(idOf(turned));
  });

  it('differs for each row and each search', () => {
    const rows = [
      { a: '1' },
      { a: 1 },
      { a: ['1'] },
      { a: ['1', '2'] },
      { a: ['2', '1'] },
      { a: JSON.rawJSON('12345678901234567890') },
      { a: JSON.rawJSON('12345678901234567891') },
      JSON.parse('{"a": "1", "__proto__": "x"}') as Json,
    ];
    expect(new Set(rows.map((row) => idOf(row))).size).toBe(rows.length);
    expect(idOf({ a: '1' }, 's2')).not.toBe(idOf({ a: '1' }));
  });

  it('is absent without a sid', () => {
    expect(readAs('log_alert', { search_name: 'n', result: {} })?.eventId).toBeUndefined();
  });
});

describe('an event of the format log_alert', () => {
  it.each([
    [{ severity: 'low' }, 'low'],
    [{ severity: 'low', urgency: 'high' }, 'high'],
    [{ severity: 'low', urgency: ' ' }, 'low'],
    [{ severity: 7 }, '7'],
    [{ severity: {} }, undefined],
  ])('with %j has the severity %s', (result, said) => {
    expect(readAs('log_alert', { search_name: 'n', result })?.severity?.said).toBe(said);
  });

  it('uses the first word of the row that is a known type', () => {
    const knownTypeOf = (result: Json) => readAs('log_alert', { search_name: 'n', result })?.type;
    expect(knownTypeOf({ incident_type: 'bec', category: 'malware' })).toBe('bec');
    expect(knownTypeOf({ incident_type: 'weather', category: 'Malware' })).toBe('malware');
    expect(knownTypeOf({ category: 'weather' })).toBeUndefined();
  });

  it.each<Json>([
    { result: {} },
    { result: 'x', sid: 's' },
    { result: [], search_name: 'n' },
    { sid: 's', search_name: 'n' },
    { result: {}, sid: 12, search_name: null },
  ])('is not recognised in %j', (event) => expect(readAs('log_alert', event)).toBeUndefined());
});

const readFinding = (over: JsonObject) =>
  readAs('ocsf', { class_uid: 2004, finding_info: { uid: 'u', title: 't' }, ...over });
const ofTypes = (types: Json) => readFinding({ finding_info: { uid: 'u', types } })?.type;

describe('an event of the format ocsf', () => {
  it.each([
    [0, undefined],
    [1, 'low'],
    [2, 'low'],
    [3, 'medium'],
    [4, 'high'],
    [5, 'critical'],
    [6, 'critical'],
    [7, undefined],
    [99, undefined],
    ['4', 'high'],
  ])('with severity id %p has the level %s', (severity_id, level) =>
    expect(readFinding({ severity_id })?.severity).toMatchObject({
      said: String(severity_id),
      level,
    }),
  );

  it('prefers the word of the severity to the number', () => {
    expect(readFinding({ severity_id: 99, severity: 'P1' })?.severity).toEqual({
      said: 'P1',
      number: 99,
    });
    expect(readFinding({ severity: 'High' })?.severity).toEqual({ said: 'High' });
    expect(readFinding({})?.severity).toBeUndefined();
  });

  it.each([
    [['Malware'], 'malware'],
    [['TTPs/Initial Access', 'Effects/Data Exfiltration'], 'data_exfiltration'],
    [['Data Encrypted for Impact'], 'ransomware'],
    ['Phishing', 'phishing'],
    [['Software and Configuration Checks'], undefined],
    [[{}, null, 7], undefined],
    [Array.from({ length: 30 }, (_, at) => (at === 25 ? 'Malware' : 'x')), undefined],
    [`${'x/'.repeat(25)}Malware`, undefined],
    ['x/'.repeat(500_000), undefined],
  ])('with the types %j has the type %s', (types, type) => expect(ofTypes(types)).toBe(type));

  it('has the type malware if it describes malware, unless its types say more', () => {
    const malware = [{ name: 'Dropper.B' }];
    expect(readFinding({ malware })?.type).toBe('malware');
    expect(readFinding({ malware: [] })?.type).toBeUndefined();
    const ransomware = { uid: 'u', types: ['Ransomware'] };
    expect(readFinding({ malware, finding_info: ransomware })?.type).toBe('ransomware');
  });

  it.each([
    [{ finding_info: { uid: 'u', title: 't' } }, 't'],
    [{ finding_info: { uid: 'u' }, message: 'm' }, 'm'],
    [{ finding_info: { uid: 'u', analytic: { name: 'a' } } }, 'a'],
    [{ finding_info: { uid: 'u' } }, 'u'],
    [{ device: { ip: '192.0.2.7' }, resources: [{ name: 'r' }] }, 't (192.0.2.7)'],
    [{ resources: [{ name: 'r' }, { name: 's' }] }, 't (r)'],
  ] as const)('with %j has the title %s', (over, title) =>
    expect(readFinding(over as JsonObject)?.title).toBe(title),
  );

  it.each<JsonObject>([
    { class_uid: 2001 },
    { class_uid: 'x' },
    { finding_info: {} },
    { finding_info: [] },
  ])('is not recognised with %j', (over) => expect(readFinding(over)).toBeUndefined());
});
