import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { KNOWN_INCIDENT_TYPES, SEVERITIES } from '../../incidents/incident.js';
import type { Alert, EventFormat } from '../reading/alert.js';
import { typeOf } from '../reading/incident-type.js';
import type { Json } from '../reading/json.js';
import { eventFormats, formatNamed, readAs } from './formats.js';

const FOLDER = join(__dirname, '../../../test/fixtures/webhooks/formats');
const read = (path: string) => JSON.parse(readFileSync(join(FOLDER, path), 'utf8')) as Json;

interface Sample {
  readonly path: string;
  readonly format: EventFormat['name'];
  readonly event: Json;
}

const samples: Sample[] = eventFormats().flatMap(({ name }) =>
  readdirSync(join(FOLDER, name)).map((file) => ({
    path: `${name}/${basename(file, '.json')}`,
    format: name,
    event: read(`${name}/${file}`),
  })),
);

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

describe('the formats', () => {
  it('have an expectation for each sample, and a sample for each expectation', () => {
    expect(samples.map(({ path }) => path).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(samples)('read each part of $path', ({ path, format, event }) => {
    const alert = readAs(format, event);
    expect(alert && withoutHash(alert)).toEqual({ event, ...EXPECTED[path] });
  });

  it.each([
    ['generic', 'encryption'],
    ['email_alert', 'PHISH'],
    ['endpoint_alert', 'credential'],
    ['log_alert', 'failed logins'],
    ['ocsf', 'encrypted'],
  ])("let the source's type_mapping look at the words of %s", (name, word) => {
    const alerts = samples
      .filter(({ format }) => format === name)
      .map(({ format, event }) => readAs(format, event)!);
    const types = alerts.map((alert) => typeOf(alert, { typeMapping: { [word]: 'site_type' } }));
    expect(types).toContain('site_type');
  });

  it.each(samples)('$path fits this format and no other', ({ format, event }) => {
    const fitting = eventFormats().filter((one) => one.read(event) !== undefined);
    expect(fitting.map(({ name }) => name)).toEqual([format]);
    expect(readAs('auto', event)).toEqual(formatNamed(format).read(event));
  });

  it('are not guessed by auto when an event fits two', () => {
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
    expect(eventFormats().filter((one) => one.read(event) !== undefined)).toEqual([]);
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

describe('mean events', () => {
  it.each(samples)('are read sanely or not at all: $path with each value wrong', ({ event }) => {
    for (const wrong of WRONG) {
      for (const changed of replaced(event, wrong)) {
        for (const format of [...eventFormats().map(({ name }) => name), 'auto'] as const) {
          const alert = readAs(format, changed);
          if (alert) expect(problemsOf(alert, changed)).toEqual([]);
        }
      }
    }
  });

  it('have no members but their own', () => {
    const inherited = Object.create({ event_type: 'malware', data: { alert_id: 'a' } }) as Json;
    expect(readAs('auto', inherited)).toBeUndefined();
    const named = JSON.parse('{"__proto__": {"event_type": "x", "data": {"alert_id": "a"}}}');
    expect(readAs('auto', named)).toBeUndefined();
  });
});
