import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INCIDENT_TYPE } from '../../../incidents/incident.js';
import type { Alert } from '../../reading/alert.js';
import type { Json } from '../../reading/json.js';
import { severityOf } from '../../reading/severity.js';
import { parsePointer, resolve } from '../json-pointer.js';
import type { Mapping } from '../mapping.js';
import { mappingProblems, readByMapping, TOO_MANY_EVENTS } from '../mapping-rules.js';
import { PRESETS, presetNamed } from '../presets.js';
import { LIFTED_KEYS } from './lifted-keys.js';

const FIXTURES = join(__dirname, '../../../../test/fixtures/webhooks/presets');

/** What stands in `<sample>.expected.json`, once for each event of `<sample>.json`. */
interface Expected {
  /** The pointer to the event in the body. */
  readonly at: string;
  readonly title: string;
  readonly eventId: string;
  /** The severity in the tool's words, and what the preset makes of it. */
  readonly severity: string;
  readonly level: string;
  readonly type?: string;
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
  if (alerts === undefined || alerts === TOO_MANY_EVENTS) throw new Error('The body does not fit.');
  return alerts;
}

describe('The presets', () => {
  it('are the seventeen that are promised, each with a fixture', () => {
    const names = PRESETS.map(({ name }) => name);
    expect(names).toEqual([
      'microsoft_alert',
      'guardduty',
      'security_hub',
      'crowdstrike_epp',
      'sentinelone',
      'elastic',
      'wazuh',
      'suricata',
      'splunk_notable',
      'okta',
      'google_secops',
      'alertmanager',
      'proofpoint',
      'sublime',
      'falco',
      'cloudflare',
      'github',
    ]);
    expect([...new Set(SAMPLES.map(({ preset }) => preset))].sort()).toEqual([...names].sort());
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
    expect(lifted.filter((key) => !Object.hasOwn(LIFTED_KEYS, key))).toEqual([]);
  });

  it.each(PRESETS)(
    'say what to set at the sender, and where the shape is documented: $name',
    (preset) => {
      expect(preset.documentation).toMatch(/https:\/\/\S+/);
      expect(preset.setUp.join(' ')).toContain('{url}');
      const header = {
        token: /X-Webhook-Token|Bearer|cf-webhook-auth/,
        body: /X-Hub-Signature-256/,
      };
      const named = preset.signature === 'body' ? header.body : header.token;
      if (preset.signature !== 'timestamped') expect(preset.setUp.join(' ')).toMatch(named);
    },
  );
});

describe.each(SAMPLES)('$preset / $sample', ({ preset, body, expected }) => {
  const { mapping, severityMapping } = presetNamed(preset)!;

  it('is read as expected, field by field', () => {
    expect(alertsOf(mapping, body)).toEqual(
      expected.map(({ at, severity, level: _, ...fields }) => ({
        event: resolve(body, parsePointer(at)!),
        usualType: 'other',
        severity: { said: severity },
        ...fields,
      })),
    );
  });

  it('has severities that the preset or everybody knows', () => {
    expect(
      expected.map(({ severity: said }) => severityOf({ said }, severityMapping ?? {}).severity),
    ).toEqual(expected.map(({ level }) => level));
  });
});

describe('Two events of one tool', () => {
  it.each(PRESETS)('have two ids: $name', ({ name }) => {
    const ids = SAMPLES.filter(({ preset }) => preset === name).flatMap(({ expected }) =>
      expected.map(({ eventId }) => eventId),
    );
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
