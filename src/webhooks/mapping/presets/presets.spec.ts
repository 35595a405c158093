import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { INCIDENT_TYPE } from '../../../incidents/incident.js';
import type { Alert } from '../../reading/alert.js';
import type { Json } from '../../reading/json.js';
import { typeOf } from '../../reading/incident-type.js';
import { severityOf } from '../../reading/severity.js';
import { parsePointer } from '../../../platform/json-pointer.js';
import { resolve } from '../places.js';
import type { Mapping } from '../mapping.js';
import { mappingProblems, readByMapping } from '../mapping-rules.js';
import { PRESETS, presetNamed } from '../presets.js';
import { INCIDENT_FIELDS } from '../../../incidents/incident-fields.js';

const FIXTURES = join(__dirname, '../../../../test/fixtures/webhooks/presets');

/** What stands in `<sample>.expected.json`, once for each event of `<sample>.json`. */
interface Expected {
  /** The pointer to the event in the body. */
  readonly at: string;
  readonly title: string;
  readonly eventId: string;
  /** The sample with the same event, which this one repeats or updates. */
  readonly repeats?: string;
  /** The severity in the tool's words. Not every tool has one. */
  readonly severity?: string;
  /** What the preset makes of it; without a severity that is medium. */
  readonly level?: string;
  /** The tool's words for its type. */
  readonly words?: readonly string[];
  /** What the preset makes of them. */
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

function alertsOf(mapping: Mapping, body: Json): Alert[] {
  const alerts = readByMapping(mapping, body);
  if (alerts === undefined) throw new Error('The body does not fit.');
  return alerts;
}

describe('The presets', () => {
  it('are those that are promised, each with a fixture', () => {
    const names = PRESETS.map(({ name }) => name);
    expect(names.toSorted()).toEqual([
      'abnormal',
      'alertmanager',
      'azure_monitor',
      'cloudflare',
      'cortex_xdr',
      'crowdstrike_epp',
      'datadog',
      'elastic',
      'falco',
      'github',
      'google_secops',
      'grafana',
      'graylog',
      'guardduty',
      'microsoft_alert',
      'mimecast',
      'okta',
      'pagerduty',
      'proofpoint',
      'security_hub',
      'sentinelone',
      'splunk_notable',
      'sublime',
      'suricata',
      'wazuh',
    ]);
    expect([...new Set(SAMPLES.map(({ preset }) => preset))].sort()).toEqual(names.toSorted());
  });

  it('are found by their names, and by nothing else', () => {
    for (const preset of PRESETS) expect(presetNamed(preset.name)).toBe(preset);
    expect(presetNamed('constructor')).toBeUndefined();
    expect(presetNamed('')).toBeUndefined();
  });

  it.each(PRESETS)('hold to the rules of mappings, types and keys: $name', (preset) => {
    expect(mappingProblems(preset.mapping)).toEqual([]);
    expect(preset.incidentType ?? 'other').toMatch(INCIDENT_TYPE);
    const lifted = Object.keys(preset.mapping.lift ?? {});
    expect(lifted.filter((key) => !Object.hasOwn(INCIDENT_FIELDS, key))).toEqual([]);
  });

  it.each(PRESETS)(
    'say what to set at the sender, and where the shape is documented: $name',
    (preset) => {
      expect(preset.documentation).toMatch(/https:\/\/\S+/);
      expect(preset.setUp.join(' ')).toContain('{url}');
      const header = {
        token: /X-Webhook-Token|Bearer|cf-webhook-auth/,
        basic: /Basic authentication/,
        body: /X-Hub-Signature-256|X-PagerDuty-Signature/,
        standard: /webhook-signature/,
        timestamped: /sign/,
      };
      expect(preset.setUp.join(' ')).toMatch(header[preset.signature]);
    },
  );
});

describe.each(SAMPLES)('$preset / $sample', ({ preset, body, expected }) => {
  const shipped = presetNamed(preset)!;
  const { mapping, severityMapping } = shipped;

  it('is read as expected, field by field', () => {
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

  it('gets the types that are expected', () => {
    expect(alertsOf(mapping, body).map((alert) => typeOf(alert, shipped))).toEqual(
      expected.map(({ incidentType }) => incidentType),
    );
  });

  it('has severities that the preset or everybody knows', () => {
    expect(
      alertsOf(mapping, body).map(({ severity }) => severityOf(severity, severityMapping ?? {})),
    ).toEqual(expected.map(({ level = 'medium' }) => ({ severity: level })));
  });
});

const EVENTS = SAMPLES.flatMap(({ preset, sample, expected }) =>
  expected.map(({ eventId, repeats }) => ({ preset, sample, eventId, repeats })),
);
const isFirst = ({ repeats }: (typeof EVENTS)[number]) => repeats === undefined;

describe('Two events of one tool', () => {
  it.each(PRESETS)('have two ids: $name', ({ name }) => {
    const ids = EVENTS.filter((event) => event.preset === name && isFirst(event)).map(
      ({ eventId }) => eventId,
    );
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('An event that the tool repeats or updates', () => {
  it.each(EVENTS.filter((event) => !isFirst(event)))(
    'has the id that it had before: $preset / $sample',
    ({ preset, eventId, repeats }) => {
      const before = EVENTS.filter((event) => event.preset === preset && event.sample === repeats);
      expect(before.map((event) => event.eventId)).toContain(eventId);
    },
  );
});
