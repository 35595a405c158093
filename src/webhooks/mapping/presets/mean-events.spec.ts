import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isList, isObject, type Json } from '../../reading/json.js';
import { readByMapping } from '../mapping-rules.js';
import { PRESETS, presetNamed } from '../presets.js';

const FIXTURES = join(__dirname, '../../../../test/fixtures/webhooks/presets');

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

/** The value, once for each place in it, with something wrong in that place. */
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

/** Nothing, or alerts whose parts are texts that are not blank. */
function expectSane(read: ReturnType<typeof readByMapping>): void {
  if (read === undefined) return;
  for (const { title, eventId, type, severity, lift } of read) {
    const texts = [title, eventId, type, severity?.said].filter((text) => text !== undefined);
    const sane = texts.every((text) => typeof text === 'string' && text.trim() !== '');
    const scalars = Object.values(lift ?? {}).every((value) => !isObject(value) && !isList(value));
    if (!sane || !scalars) throw new Error(JSON.stringify({ texts, lift }).slice(0, 500));
  }
}

describe('Mean events', () => {
  it.each(PRESETS)('are read as something sane or not at all: $name', ({ name }) => {
    const { mapping } = presetNamed(name)!;
    const samples = readdirSync(join(FIXTURES, name)).filter((file) => !file.includes('.expected'));
    for (const sample of samples) {
      const body = JSON.parse(readFileSync(join(FIXTURES, name, sample), 'utf8')) as Json;
      for (const wrong of WRONG)
        for (const mean of spoilt(body, wrong)) expectSane(readByMapping(mapping, mean));
    }
  });

  it.each<[string, Json]>([
    ['github', { zen: 'Keep it simple.', hook_id: 1, hook: { type: 'Repository' } }],
    ['suricata', { event_type: 'flow', flow_id: 1, timestamp: '2026-06-05T10:11:12Z' }],
    ['proofpoint', { clicksPermitted: [], clicksBlocked: [], messagesDelivered: [] }],
    ['microsoft_alert', { value: [{ subscriptionId: 's', resourceData: { id: 'a' } }] }],
    ['alertmanager', { version: '4', alerts: [] }],
  ])('that are no alerts of %s do not fit', (name, body) => {
    expect(readByMapping(presetNamed(name)!.mapping, body)).toBeUndefined();
  });
});
