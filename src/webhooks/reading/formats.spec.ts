import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { KNOWN_INCIDENT_TYPES } from '../../incidents/incident.js';
import { FORMATS, readAs } from './formats.js';
import type { Json, JsonObject } from './event-json.js';
import { openBody } from './read-events.js';
import { severityOf, typeOf } from './words.js';

const FOLDER = join(__dirname, '../../../test/fixtures/webhooks/formats');
const read = (path: string) => JSON.parse(readFileSync(join(FOLDER, path), 'utf8')) as Json;

const NAMES = Object.keys(FORMATS) as (keyof typeof FORMATS)[];
const formatsOf = (event: Json) => NAMES.filter((name) => readAs(name, event));

/**
 * Samples of all formats. The snapshots in test/contract/well-known-fields show the fields that are read from each
 * sample.
 */
const samples = NAMES.flatMap((format) =>
  readdirSync(join(FOLDER, format)).map((file) => ({
    path: `${format}/${basename(file, '.json')}`,
    format,
    event: read(`${format}/${file}`),
  })),
);
type Sample = (typeof samples)[number];

function readOne(format: keyof typeof FORMATS, event: Json) {
  const events = openBody({ source: 'tool', format }, event).read();
  if (typeof events === 'string') throw new Error(events);
  return events[0]!;
}

describe('formats', () => {
  it.each([
    ['generic', 'encryption'],
    ['email_alert', 'PHISH'],
    ['endpoint_alert', 'credential'],
    ['log_alert', 'failed logins'],
    ['ocsf', 'encrypted'],
  ])('pass the words of an event of the format %s to type_mapping', (name, word) => {
    const alerts = samples
      .filter(({ format }) => format === name)
      .map(({ format, event }) => readAs(format, event)!);
    const types = alerts.map((alert) => typeOf(alert, { type_mapping: { [word]: 'site_type' } }));
    expect(types).toContain('site_type');
  });

  it('translate words only to known types', () => {
    for (const { format, event } of samples) {
      const { types, usualType } = readAs(format, event)!;
      for (const type of [...types!.values(), usualType]) {
        expect(KNOWN_INCIDENT_TYPES).toContain(type);
      }
    }
  });

  it.each(samples)('$path fits only its format', ({ format, event }) => {
    expect(formatsOf(event)).toEqual([format]);
    expect(readAs('auto', event)).toEqual(readAs(format, event));
  });

  it('given an event that fits two formats → auto rejects the event', () => {
    const sampleOf = (name: string) => samples.find(({ format }) => format === name)!;
    const twofold = (a: Sample, b: Sample) => ({ ...(a.event as object), ...(b.event as object) });
    const [first, second] = [sampleOf('log_alert'), sampleOf('ocsf')];
    expect(readAs('log_alert', twofold(first, second))).toBeDefined();
    expect(readAs('ocsf', twofold(first, second))).toBeDefined();
    expect(readAs('auto', twofold(first, second))).toBeUndefined();
    expect(readAs('auto', twofold(second, first))).toBeUndefined();
  });
});

/** Events of other tools that share some fields with a format. */
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

/** Yields copies of the event. In each copy, one part is replaced with `by`. */
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

describe('damaged events', () => {
  it.each(samples)('are read as valid values or are rejected: $path', ({ event }) => {
    const problems: string[] = [];
    for (const wrong of WRONG) {
      for (const changed of replaced(event, wrong)) {
        for (const format of [...NAMES, 'auto'] as const) {
          const { eventId, title, severity, lift } = readAs(format, changed) ?? {};
          const texts = [eventId, title, severity?.said].filter((text) => text !== undefined);
          const isSane =
            texts.every((text) => text.trim() !== '') &&
            Object.values(lift ?? {}).every(
              (value) => typeof value !== 'object' || JSON.isRawJSON(value),
            );
          if (!isSane) problems.push(JSON.stringify({ format, texts, lift }));
        }
      }
    }
    expect(problems).toEqual([]);
  });

  it('are read without inherited members', () => {
    const inherited = Object.create({ event_type: 'malware', data: { alert_id: 'a' } }) as Json;
    expect(readAs('auto', inherited)).toBeUndefined();
    const named = JSON.parse('{"__proto__": {"event_type": "x", "data": {"alert_id": "a"}}}');
    expect(readAs('auto', named)).toBeUndefined();
  });
});

const readGeneric = (data: JsonObject, event_type = 'policy_violation') =>
  readOne('generic', { event_type, data });

describe('an event of the format generic', () => {
  it.each<JsonObject>([{ alert_id: 'a' }, { alert_id: 7 }, { severity: 'low' }, { details: {} }])(
    'is recognised by %j',
    (data) => expect(readAs('generic', { event_type: 'x', data })).toBeDefined(),
  );

  it('is not recognised without id, severity and details', () => {
    expect(readAs('generic', { event_type: 'x', data: { alert_id: null } })).toBeUndefined();
  });

  it.each([
    ['policy_violation', 'policy_violation'],
    ['Account-Takeover', 'account_takeover'],
    ['credential_access_attempt', 'other'],
  ])('with the event_type %s has the type %s', (type, incident_type) => {
    expect(readGeneric({ alert_id: 'a' }, type).incident).toMatchObject({ incident_type });
  });

  it('takes its title from details, then from data, then from its type and its facts', () => {
    const titleOf = (data: JsonObject, type?: string) => readGeneric(data, type).incident.title;
    expect(titleOf({ host: 'beside', details: { host: 'in', rule_name: 'R' } }, 'other')).toBe(
      'R on in',
    );
    expect(titleOf({ severity: 'low', title: 'T' })).toBe('T');
    expect(titleOf({ severity: 'low', host: 'h', user: 'u' })).toBe('Policy violation for u on h');
    expect(titleOf({ severity: 'low', message: 'M' }, 'disk_full')).toBe('disk_full - M');
    expect(titleOf({ severity: 'low' }, 'disk_full')).toBe('disk full');
  });
});

const readMail = (over: JsonObject, data: Json = { sender: 'a@example.net' }) =>
  readOne('email_alert', { eventType: 'Alert', category: 'Other things', data, ...over }).incident;

describe('an event of the format email_alert', () => {
  it.each([
    ['Phish', 'phishing'],
    ['High confidence phish', 'phishing'],
    ['Malware', 'malware'],
    ['Bulk', 'spam'],
    ['BusinessEmailCompromise', 'bec'],
    ['DataLossPrevention', 'policy_violation'],
    ['InitialAccess', 'phishing'],
  ])('of category %s has the type %s', (category, incident_type) =>
    expect(readMail({ category })).toMatchObject({ incident_type }),
  );

  it('quotes the subject in the title, because it could imitate text of the tool', () => {
    const data = { sender: 'a@example.net', subject: 'Closed (from ceo@example.com) "ok"' };
    expect(readMail({}, data).title).toBe(
      `Other things - "Closed (from ceo@example.com) 'ok'" from a@example.net`,
    );
  });

  it('takes the type from eventType if the category has none', () => {
    expect(readMail({ eventType: 'Malware' }).incident_type).toBe('malware');
    expect(readMail({ eventType: 'Malware', category: 'Spam' }).incident_type).toBe('spam');
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
    [{ subject: 's', recipients: [null], sender: {} }, { subject: 's' }],
  ])('has fields of %j: %j', (data, fields) => expect(readMail({}, data).fields).toEqual(fields));

  it.each([
    ['without data', { data: null }],
    ['if data has no field of a mail', { data: { user: 'alice' } }],
    ['without category, entityType and creationTime', { category: null }],
  ])('is not recognised %s', (_, over) => {
    const event = { eventType: 'Alert', category: 'x', data: { subject: 's' }, ...over } as Json;
    expect(readAs('email_alert', event)).toBeUndefined();
  });
});

const readEndpoint = (event: JsonObject, eventType = 'EppDetectionSummaryEvent') =>
  readOne('endpoint_alert', { metadata: { eventType }, event: { CompositeId: 'c:1', ...event } });

describe('an event of the format endpoint_alert', () => {
  it.each([
    [1, 'low'],
    [2, 'low'],
    [3, 'medium'],
    [4, 'high'],
    [5, 'critical'],
    ['4', 'high'],
    [0, 'low'],
    [4.5, 'low'],
    [6, 'low'],
    [39.9, 'low'],
    [40, 'medium'],
    [59.9, 'medium'],
    [60, 'high'],
    [79.9, 'high'],
    [80, 'critical'],
    [100, 'critical'],
    [-1, 'medium'],
    ['four', 'medium'],
    [JSON.rawJSON('70.000000000000000001'), 'high'],
  ] as const)('with Severity %p has the severity %s', (Severity, severity) => {
    expect(readEndpoint({ Severity }).incident.severity).toBe(severity);
  });

  it('prefers severity_mapping, then the word of the severity, then the number', () => {
    const event = { metadata: { eventType: 'x' }, event: { DetectId: 'd', Severity: 90 } };
    const said = (SeverityName: string) =>
      readAs('endpoint_alert', { ...event, event: { ...event.event, SeverityName } })!.severity;
    expect(severityOf(said('Low')).severity).toBe('low');
    expect(severityOf(said('Grave')).severity).toBe('critical');
    expect(severityOf(said('Low'), { '90': 'high' }).severity).toBe('high');
    expect(severityOf(said(' ')).severity).toBe('critical');
  });

  it('keeps all digits of a numeric id', () => {
    const id = JSON.rawJSON('1719309930613520072');
    expect(readEndpoint({ CompositeId: id }).eventId).toBe('1719309930613520072');
  });

  it.each([
    [{ Tactic: 'Malware', Technique: 'Ransomware' }, 'ransomware'],
    [{ Tactic: 'Impact', Technique: 'Data Encrypted for Impact' }, 'ransomware'],
    [{ Tactic: 'Exfiltration', Technique: 'Exfiltration Over C2 Channel' }, 'data_exfiltration'],
    [{ Tactic: 'Initial Access', Technique: 'Valid Accounts' }, 'malware'],
  ])('with %j has the type %s', (event, type) =>
    expect(readEndpoint(event).incident.incident_type).toBe(type),
  );

  it.each([
    ['MobileDetectionSummaryEvent', 'malware'],
    ['IdpDetectionSummaryEvent', 'suspicious_login'],
    ['IDENTITYPROTECTIONEVENT', 'suspicious_login'],
    ['DataProtectionDetectionSummaryEvent', 'data_exfiltration'],
  ])('of the stream %s has the type %s', (stream, type) =>
    expect(readEndpoint({}, stream).incident.incident_type).toBe(type),
  );

  it('requires an id, or a name and a severity', () => {
    const bare = (event: JsonObject) =>
      readAs('endpoint_alert', { metadata: { eventType: 'X' }, event });
    expect(bare({ Name: 'n', Severity: 3 })).toMatchObject({ title: 'n', eventId: undefined });
    expect(bare({ DetectId: 'd' })).toMatchObject({ title: 'X', eventId: 'd' });
    expect(bare({ Name: 'n' })).toBeUndefined();
    expect(bare({ Severity: 3 })).toBeUndefined();
  });
});

const readRow = (result: Json, sid: Json = 's1') => readOne('log_alert', { sid, result });

describe('an event of the format log_alert', () => {
  it('has an id from the sid and the SHA-256 of the row', () => {
    expect(readRow({}).eventId).toBe(
      's1:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    );
    const rows = [
      { a: '1' },
      { a: 1 },
      { a: ['1', '2'] },
      { a: JSON.rawJSON('12345678901234567890') },
      { a: JSON.rawJSON('12345678901234567891') },
    ];
    expect(new Set(rows.map((row) => readRow(row).eventId)).size).toBe(rows.length);
    expect(readRow({ a: '1' }, 's2').eventId).not.toBe(readRow({ a: '1' }).eventId);
    expect(readAs('log_alert', { search_name: 'n', result: {} })?.eventId).toBeUndefined();
  });

  it.each([
    [{ severity: 'low', urgency: 'high' }, 'high'],
    [{ severity: 'low', urgency: ' ' }, 'low'],
    [{ severity: {} }, 'medium'],
  ])('with %j has the severity %s', (result, severity) => {
    expect(readRow(result).incident.severity).toBe(severity);
  });

  it('uses the first word of the row that is a known type', () => {
    const typeIn = (result: Json) => readRow(result).incident.incident_type;
    expect(typeIn({ incident_type: 'bec', category: 'malware' })).toBe('bec');
    expect(typeIn({ incident_type: 'weather', category: 'Malware' })).toBe('malware');
    expect(typeIn({ category: 'weather' })).toBe('other');
  });

  it.each<Json>([{ result: {} }, { sid: 's', search_name: 'n' }])(
    'is not recognised in %j',
    (event) => expect(readAs('log_alert', event)).toBeUndefined(),
  );
});

const readFinding = (over: JsonObject) =>
  readOne('ocsf', { class_uid: 2004, finding_info: { uid: 'u', title: 't' }, ...over }).incident;

describe('an event of the format ocsf', () => {
  it.each([
    [1, 'low'],
    [2, 'low'],
    [3, 'medium'],
    [4, 'high'],
    [5, 'critical'],
    [6, 'critical'],
    [99, 'medium'],
    ['4', 'high'],
  ])('with the severity id %p has the severity %s', (severity_id, severity) =>
    expect(readFinding({ severity_id })).toMatchObject({ severity }),
  );

  it.each([
    [['Malware'], 'malware'],
    [['TTPs/Initial Access', 'Effects/Data Exfiltration'], 'data_exfiltration'],
    [['Data Encrypted for Impact'], 'ransomware'],
    ['Phishing', 'phishing'],
    [['Software and Configuration Checks'], 'other'],
    [[{}, null, 7], 'other'],
    ['x/'.repeat(500_000), 'other'],
  ])('with the types %j has the type %s', (types, type) =>
    expect(readFinding({ finding_info: { uid: 'u', types } }).incident_type).toBe(type),
  );

  it('has the type malware if it describes malware, unless its types are more specific', () => {
    const malware = [{ name: 'Dropper.B' }];
    expect(readFinding({ malware }).incident_type).toBe('malware');
    expect(readFinding({ malware: [] }).incident_type).toBe('other');
    const ransomware = { uid: 'u', types: ['Ransomware'] };
    expect(readFinding({ malware, finding_info: ransomware }).incident_type).toBe('ransomware');
  });

  it.each([
    [{ finding_info: { uid: 'u' }, message: 'm' }, 'm'],
    [{ finding_info: { uid: 'u', analytic: { name: 'a' } } }, 'a'],
    [{ finding_info: { uid: 'u' } }, 'u'],
    [{ device: { ip: '192.0.2.7' } }, 't on 192.0.2.7'],
    [{ resources: [{ name: 'r' }, { name: 's' }] }, 't - r'],
  ] as const)('with %j has the title %s', (over, title) =>
    expect(readFinding(over as JsonObject).title).toBe(title),
  );

  it.each<JsonObject>([{ class_uid: 2001 }, { finding_info: {} }, { finding_info: [] }])(
    'is not recognised with %j',
    (over) => {
      const event = { class_uid: 2004, finding_info: { uid: 'u' }, ...over };
      expect(readAs('ocsf', event)).toBeUndefined();
    },
  );
});
