import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../reading/json.js';
import { isUnfit, readEvents } from '../reading/read-events.js';
import type { Preset } from '../sources/webhook-source.js';
import { mappingProblems } from './mapping-rules.js';
import { presetLike, PRESETS, presetNamed } from './presets.js';

const FIXTURES = join(__dirname, '../../../test/fixtures/webhooks');

const samplesIn = (kind: string) =>
  readdirSync(join(FIXTURES, kind), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json') && !path.endsWith('.expected.json'))
    .map((path) => ({
      path,
      name: path.split('/')[0]!,
      body: JSON.parse(readFileSync(join(FIXTURES, kind, path), 'utf8')) as Json,
    }));
const SAMPLES = samplesIn('presets');

function hintAt({ name, mapping }: Preset, body: Json): string | undefined {
  const rules = { source: 's', autoTriage: false, severityMapping: {}, typeMapping: {} };
  const read = readEvents({ ...rules, format: 'mapping', preset: name, mapping }, body);
  return isUnfit(read) ? read.hint : 'It fits.';
}

describe('The marks of the presets', () => {
  it.each(SAMPLES)('tell whose $path is', ({ name, body }) => {
    expect(presetLike(body)?.name).toBe(name);
    expect(presetLike([body, { other: 1 }])?.name).toBe(Array.isArray(body) ? undefined : name);
  });

  it.each(SAMPLES)(
    'name the preset of $path at a source of each other preset',
    ({ name, body }) => {
      const others = PRESETS.filter((preset) => preset.name !== name);
      const hints = new Set(others.map((preset) => hintAt(preset, body)));
      hints.delete('It fits.');
      expect([...hints]).toEqual([`This looks like ${name}.`]);
    },
  );

  it.each<[string, Json]>([
    ['the shape of this service', samplesIn('formats/generic')[0]!.body],
    ['an alarm', { alarm: { rule: 'Impossible travel', level: 'warn', key: 'a-17' } }],
    ['words that many tools have', { rule: 'x', event: { id: 1 }, data: [{}], alerts: [] }],
    ['nothing', {}],
    ['an empty list', []],
    ['a text', 'This looks like okta.'],
    ['null', null],
  ])('name none for %s', (_, body) => {
    expect(presetLike(body)).toBeUndefined();
    expect(hintAt(presetNamed('okta')!, body)).toBeUndefined();
  });

  it('name none for the preset that the source has', () => {
    const empty = { messagesDelivered: [], clicksPermitted: [] };
    expect(hintAt(presetNamed('okta')!, empty)).toBe('This looks like proofpoint.');
    expect(hintAt(presetNamed('proofpoint')!, empty)).toBeUndefined();
  });

  it.each(PRESETS)('are JSON pointers: $name', ({ marks }) => {
    expect(marks.length).toBeGreaterThan(0);
    for (const mark of marks) expect(mappingProblems({ title: mark })).toEqual([]);
  });
});
