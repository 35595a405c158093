import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { INCIDENT_FIELDS } from '../../incidents/incident-fields.js';
import { parsePointer } from '../../platform/json-pointer.js';
import { isList, isObject, type Json } from '../reading/event-json.js';
import { alertReader, eventsOf, isTold, resolve } from '../reading/mapping.js';
import { settingsProblems } from '../sources/source-rules.js';
import { type Alert, severityOf, typeOf } from '../reading/words.js';
import type { Mapping } from '../sources/webhook-source.entity.js';
import { PRESETS, presetNamed } from '../reading/formats.js';

const FIXTURES = join(__dirname, '../../../test/fixtures/webhooks/presets');

/** Entry in `<sample>.expected.json` for an event in `<sample>.json`. */
interface Expected {
  /** Pointer to the event in the body. */
  readonly at: string;
  readonly title: string;
  readonly eventId: string;
  /** Earlier sample whose event this event repeats or updates. */
  readonly repeats?: string;
  /** Severity word of the tool. */
  readonly severity?: string;
  /** Severity of the incident. Default: medium. */
  readonly level?: string;
  readonly words?: readonly string[];
  readonly incidentType: string;
  readonly lift: Readonly<Record<string, Json>>;
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;

const SAMPLES = readdirSync(FIXTURES).flatMap((preset) =>
  readdirSync(join(FIXTURES, preset))
    .filter((file) => !file.endsWith('.expected.json'))
    .map((file) => {
      const path = join(FIXTURES, preset, file);
      return {
        preset,
        sample: file.replace('.json', ''),
        body: readJson(path) as Json,
        expected: readJson(path.replace('.json', '.expected.json')) as Expected[],
      };
    }),
);

function readByMapping(mapping: Mapping, body: Json): Alert[] | undefined {
  const found = eventsOf(mapping, body);
  const alerts = found.map(alertReader(mapping));
  return alerts.some(isTold) ? alerts : undefined;
}

function alertsOf(mapping: Mapping, body: Json): Alert[] {
  const alerts = readByMapping(mapping, body);
  if (alerts === undefined) throw new Error('The body does not fit.');
  return alerts;
}

describe('presets', () => {
  it('have at least one sample each', () => {
    const names = PRESETS.map(({ name }) => name);
    expect([...new Set(SAMPLES.map(({ preset }) => preset))].sort()).toEqual(names);
  });

  it('are found by their names only', () => {
    for (const preset of PRESETS) expect(presetNamed(preset.name)).toBe(preset);
    expect(presetNamed('constructor')).toBeUndefined();
    expect(presetNamed('')).toBeUndefined();
  });

  it.each(PRESETS)('have valid rules: $name', ({ mapping, severity_mapping, type_mapping }) =>
    expect(settingsProblems({ mapping, severity_mapping, type_mapping })).toEqual([]),
  );

  it.each(PRESETS)('copy only well-known fields into `fields`: $name', ({ mapping }) => {
    const lifted = Object.keys(mapping.lift ?? {});
    expect(lifted.filter((key) => !Object.hasOwn(INCIDENT_FIELDS, key))).toEqual([]);
  });

  it.each(PRESETS)(
    'name their documentation and the header of their signature: $name',
    (preset) => {
      expect(preset.documentation).toMatch(/https:\/\/\S+/);
      expect(preset.set_up.join(' ')).toContain('{url}');
      const header = {
        token: /X-Webhook-Token|Bearer|cf-webhook-auth/,
        basic: /Basic authentication/,
        body: /X-Hub-Signature-256|X-PagerDuty-Signature/,
        standard: /webhook-signature/,
        timestamped: /sign/,
      };
      expect(preset.set_up.join(' ')).toMatch(header[preset.signature]);
    },
  );
});

describe.each(SAMPLES)('$preset / $sample', ({ preset, body, expected }) => {
  const shipped = presetNamed(preset)!;
  const { mapping, severity_mapping } = shipped;

  it('is read as expected', () => {
    expect(alertsOf(mapping, body)).toEqual(
      expected.map(
        ({ at, repeats: _, severity: said, level: __, incidentType: ___, ...fields }) => ({
          event: resolve(body, parsePointer(at)!),
          usualType: 'other',
          ...(said !== undefined && { severity: { said } }),
          ...fields,
        }),
      ),
    );
  });

  it('has the expected types', () => {
    expect(alertsOf(mapping, body).map((alert) => typeOf(alert, shipped))).toEqual(
      expected.map(({ incidentType }) => incidentType),
    );
  });

  it('has the expected severities', () => {
    expect(
      alertsOf(mapping, body).map(({ severity }) => severityOf(severity, severity_mapping)),
    ).toEqual(expected.map(({ level = 'medium' }) => ({ severity: level })));
  });
});

const EVENTS = SAMPLES.flatMap(({ preset, sample, expected }) =>
  expected.map(({ eventId, repeats }) => ({ preset, sample, eventId, repeats })),
);
const isFirst = ({ repeats }: (typeof EVENTS)[number]) => repeats === undefined;

describe('two events of one tool', () => {
  it.each(PRESETS)('have different ids: $name', ({ name }) => {
    const ids = EVENTS.filter((event) => event.preset === name && isFirst(event)).map(
      ({ eventId }) => eventId,
    );
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a repeated or updated event', () => {
  it.each(EVENTS.filter((event) => !isFirst(event)))(
    'keeps its id: $preset / $sample',
    ({ preset, eventId, repeats }) => {
      const before = EVENTS.filter((event) => event.preset === preset && event.sample === repeats);
      expect(before.map((event) => event.eventId)).toContain(eventId);
    },
  );
});

const WRONG: readonly Json[] = [
  null,
  true,
  0,
  -1.5,
  '',
  '   ',
  'x'.repeat(100_000),
  '\0',
  '\ud800',
  [],
  [[]],
  [null],
  {},
  JSON.parse('{"__proto__":{"title":"x"},"constructor":1}') as Json,
  JSON.rawJSON('9'.repeat(5_000)),
  nested(1_000),
];

function nested(levels: number): Json {
  return JSON.parse(`${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`) as Json;
}

/** Yields copies of the value. In each copy, one part is replaced with `wrong`. */
function* spoilt(value: Json, wrong: Json): Generator<Json> {
  yield wrong;
  if (isList(value)) {
    for (const [at, item] of value.entries())
      for (const other of spoilt(item, wrong)) yield value.with(at, other);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value))
      for (const other of spoilt(item, wrong)) yield { ...value, [key]: other };
  }
}

/** Expects no alerts, or only alerts whose texts are not blank. */
function expectSane(read: ReturnType<typeof readByMapping>): void {
  if (read === undefined) return;
  for (const { title, eventId, severity, lift } of read) {
    const texts = [title, eventId, severity?.said].filter((text) => text !== undefined);
    const sane = texts.every((text) => typeof text === 'string' && text.trim() !== '');
    const scalars = Object.values(lift ?? {}).every((value) => !isObject(value) && !isList(value));
    if (!sane || !scalars) throw new Error(JSON.stringify({ texts, lift }).slice(0, 500));
  }
}

describe('damaged or other events', () => {
  it.each(PRESETS)('are read as valid values or are rejected: $name', ({ name, mapping }) => {
    for (const { body } of SAMPLES.filter(({ preset }) => preset === name))
      for (const wrong of WRONG)
        for (const mean of spoilt(body, wrong)) expectSane(readByMapping(mapping, mean));
  });

  it.each<[string, Json]>([
    ['github', { zen: 'Keep it simple.', hook_id: 1, hook: { type: 'Repository' } }],
    ['suricata', { event_type: 'flow', flow_id: 1, timestamp: '2026-06-05T10:11:12Z' }],
    ['proofpoint', { clicksPermitted: [], clicksBlocked: [], messagesDelivered: [] }],
    ['microsoft_alert', { value: [{ subscriptionId: 's', resourceData: { id: 'a' } }] }],
    ['alertmanager', { version: '4', alerts: [] }],
  ])('do not fit the preset %s if they are of another kind', (name, body) => {
    expect(readByMapping(presetNamed(name)!.mapping, body)).toBeUndefined();
  });
});
