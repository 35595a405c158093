import { PRESETS } from '../reading/formats.js';
import {
  DEFAULT_SETTINGS,
  requireUsable,
  SECRET,
  type SettingsChange,
  settingsAfter,
  settingsProblems,
} from './source-rules.js';
import {
  type Mapping,
  type Preset,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
} from './webhook-source.entity.js';

const MAPPING = { title: '/title' };

const presetWith = (matches: (preset: Preset) => boolean): Preset => PRESETS.find(matches)!;
const WITH_WORDS = presetWith(({ severity_mapping }) => severity_mapping !== undefined);
const WITHOUT_WORDS = presetWith(({ severity_mapping }) => severity_mapping === undefined);

const codes = (change: SettingsChange) =>
  settingsProblems(change).map(({ field, code }) => `${field}: ${code}`);
const made = (change: SettingsChange) => settingsAfter(DEFAULT_SETTINGS, change);

describe('settingsProblems', () => {
  it('accepts an empty change, and each format with its own settings', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ format: 'ocsf' })).toEqual([]);
    expect(codes({ format: 'mapping', mapping: MAPPING })).toEqual([]);
    expect(codes({ mapping: MAPPING })).toEqual([]);
    expect(codes({ preset: WITH_WORDS.name, format: 'mapping' })).toEqual([]);
  });

  it('rejects a mapping or a preset together with another format', () => {
    expect(codes({ format: 'auto', mapping: MAPPING })).toEqual(['format: is_in']);
    expect(codes({ format: 'generic', preset: WITH_WORDS.name })).toEqual(['format: is_in']);
  });
});

describe('settingsAfter', () => {
  it('changes the given settings and keeps the other settings', () => {
    const before = made({ playbook: 'phishing-response', incident_type: 'phishing' });
    const after = settingsAfter(before, { auto_triage: true, playbook: undefined });
    expect(after).toEqual({ ...before, auto_triage: true });
    expect(settingsAfter(after, { playbook: '' })).toEqual({ ...after, playbook: null });
  });

  it('takes only the settings from a row', () => {
    const row = { ...DEFAULT_SETTINGS, version: 7, secret: 'sealed' };
    expect(settingsAfter(row, { enabled: false })).toEqual({ ...DEFAULT_SETTINGS, enabled: false });
  });

  it('uses the settings of a preset', () => {
    expect(made({ preset: WITH_WORDS.name })).toEqual({
      ...DEFAULT_SETTINGS,
      preset: WITH_WORDS.name,
      format: 'mapping',
      mapping: WITH_WORDS.mapping,
      severity_mapping: WITH_WORDS.severity_mapping,
      type_mapping: WITH_WORDS.type_mapping,
      incident_type: WITH_WORDS.incident_type ?? null,
      signature: WITH_WORDS.signature,
    });
  });

  it('prefers settings of the request to settings of the preset', () => {
    const own: SettingsChange = {
      mapping: MAPPING,
      severity_mapping: { urgent: 'critical' },
      incident_type: 'bec',
      signature: 'standard',
    };
    expect(made({ preset: WITH_WORDS.name, ...own })).toMatchObject({
      ...own,
      preset: WITH_WORDS.name,
      format: 'mapping',
    });
  });

  it('keeps no settings of the previous preset', () => {
    const before = made({ preset: WITH_WORDS.name });
    expect(settingsAfter(before, { preset: WITHOUT_WORDS.name })).toMatchObject({
      mapping: WITHOUT_WORDS.mapping,
      severity_mapping: {},
    });
  });

  it('removes the preset if the change has a new mapping', () => {
    expect(made({ mapping: MAPPING })).toMatchObject({ format: 'mapping', mapping: MAPPING });
    const after = settingsAfter(made({ preset: WITH_WORDS.name }), { mapping: MAPPING });
    expect(after).toMatchObject({ format: 'mapping', mapping: MAPPING, preset: null });
  });

  it('removes mapping and preset if the change has another format', () => {
    const after = settingsAfter(made({ preset: WITH_WORDS.name }), { format: 'auto' });
    expect(after).toMatchObject({ format: 'auto', mapping: null, preset: null });
  });
});

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0xfe).toString('base64');

/** Returns the message of the error, if the secret is not usable. */
function secretProblem(secret: string, signature: SignatureScheme): string | undefined {
  try {
    requireUsable(secret, signature);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('requireUsable', () => {
  it.each([
    ['plain text', 'sixteen-letters!'],
    ['base64 of 16 bytes', `whsec_${base64(16)}`],
    ['base64 of 24 bytes', `whsec_${base64(24)}`],
    ['base64 of 64 bytes', `whsec_${base64(64)}`],
    ['base64 without its padding', `whsec_${base64(16).replaceAll('=', '')}`],
  ])('accepts %s for every signature scheme', (_, secret) => {
    for (const signature of SIGNATURE_SCHEMES) {
      expect(secretProblem(secret, signature)).toBeUndefined();
    }
  });

  it.each([
    ['nothing', 'whsec_'],
    ['base64 of 15 bytes', `whsec_${base64(15)}`],
    ['base64 of other letters', `whsec_${base64(24).replaceAll('/', '_')}`],
    ['base64 with a line break', `whsec_${base64(12)}\n${base64(12)}`],
    ['base64 that continues after its padding', `whsec_${base64(16)}${base64(16)}`],
    ['one letter too many', `whsec_${base64(24)}A`],
  ])('rejects %s after whsec_, but only for the scheme standard', (_, secret) => {
    expect(secretProblem(secret, 'standard')).toMatch(/whsec_/);
    expect(secretProblem(secret, 'standard')).not.toMatch(/whsec_\S/);
    expect(secretProblem(secret, 'body')).toBeUndefined();
  });

  it.each([
    'a secret of some words',
    'schlüssel-des-tors',
    'tab\tin-the-middle',
    'with-a-\u200b-in-it',
  ])('rejects %j, but only for the scheme token', (secret) => {
    expect(secretProblem(secret, 'token')).toMatch(/header/);
    expect(secretProblem(secret, 'timestamped')).toBeUndefined();
  });
});

describe('the secret of the scheme basic', () => {
  it('may have spaces, but no letters outside ASCII', () => {
    expect(secretProblem('a secret of some words', 'basic')).toBeUndefined();
    for (const secret of ['schlüssel-des-tors', 'tab\tin-the-middle']) {
      expect(secretProblem(secret, 'basic')).toMatch(/password/);
    }
  });
});

describe('the pattern SECRET', () => {
  it.each([' x', 'x ', '\tx', 'x\n', '\ufeffx', 'x\u00a0', ' ', ''])('rejects %j', (text) => {
    expect(SECRET.test(text)).toBe(false);
  });

  it('accepts white space between other characters, and needs linear time', () => {
    expect(SECRET.test('two words\nand a line')).toBe(true);
    expect(SECRET.test(`x${' '.repeat(1_000_000)}`)).toBe(false);
  });
});

const json = (text: string) => JSON.parse(text) as unknown;

describe('the check of a mapping', () => {
  const codes = (mapping: unknown) =>
    settingsProblems({ mapping } as SettingsChange).map(({ field, code }) => [field, code]);

  it('accepts a mapping with all fields', () => {
    const mapping: Mapping = {
      items: ['/a', ''],
      title: [['/t', '^/host'], '/t'],
      severity: '/s',
      event_id: [['/a', '/b']],
      type: ['/x', '^/y'],
      lift: { host: '/h', src_ip2: ['/i', '^/j'] },
    };
    expect(codes(mapping)).toEqual([]);
  });

  it.each<[unknown, string, string]>([
    [[], 'mapping', 'is_json_object'],
    ['/title', 'mapping', 'is_json_object'],
    [{}, 'mapping', 'required'],
    [{ items: '/a', lift: { host: '/h' } }, 'mapping', 'required'],
    [{ title: 't' }, 'mapping.title', 'json_pointer'],
    [{ title: '/~2' }, 'mapping.title', 'json_pointer'],
    [{ title: '^t' }, 'mapping.title', 'json_pointer'],
    [{ title: 7 }, 'mapping.title', 'json_pointer'],
    [{ title: null }, 'mapping.title', 'json_pointer'],
    [{ title: { 0: '/t' } }, 'mapping.title', 'json_pointer'],
    [{ title: ['/t', 't'] }, 'mapping.title.1', 'json_pointer'],
    [{ title: ['/t', 7] }, 'mapping.title.1', 'json_pointer'],
    [{ title: [['/t', ['/u']]] }, 'mapping.title.0.1', 'json_pointer'],
    [{ severity: [['/s', '/t']] }, 'mapping.severity.0', 'json_pointer'],
    [{ title: '/t', items: [['/a']] }, 'mapping.items.0', 'json_pointer'],
    [{ title: '/t', lift: { host: [['/a']] } }, 'mapping.lift.host.0', 'json_pointer'],
    [{ title: [] }, 'mapping.title', 'size'],
    [{ title: [[]] }, 'mapping.title.0', 'size'],
    [{ title: Array.from({ length: 11 }, () => '/t') }, 'mapping.title', 'size'],
    [{ title: `/${'t'.repeat(512)}` }, 'mapping.title', 'max_length'],
    [{ title: '/t', rule: '/r' }, 'mapping.rule', 'unknown_field'],
    [{ title: '/t', constructor: '/r' }, 'mapping.constructor', 'unknown_field'],
    [json('{"title":"/t","__proto__":"/r"}'), 'mapping.__proto__', 'unknown_field'],
    [{ title: '/t', lift: ['/h'] }, 'mapping.lift', 'is_json_object'],
    [{ title: '/t', lift: { Host: '/h' } }, 'mapping.lift.Host', 'matches'],
    [{ title: '/t', lift: json('{"__proto__":"/h"}') }, 'mapping.lift.__proto__', 'matches'],
    [{ title: '/t', lift: { host: 'h' } }, 'mapping.lift.host', 'json_pointer'],
    [{ title: '/t', lift: { host: null } }, 'mapping.lift.host', 'json_pointer'],
  ])('rejects %j', (mapping, field, code) => {
    expect(codes(mapping)).toEqual([[field, code]]);
  });

  it('accepts up to 32 copied keys, 10 pointers and 512 characters', () => {
    const lift = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`key_${n}`, '/h']));
    const title = [...Array.from({ length: 9 }, () => '/t'), `/${'t'.repeat(511)}`];
    expect(codes({ title, lift: lift(32) })).toEqual([]);
    expect(codes({ title, lift: lift(33) })).toEqual([['mapping.lift', 'size']]);
  });

  it('names an unstorable key without its unstorable characters', () => {
    expect(codes({ title: '/t', 'a\0': '/x' })).toEqual([['mapping.a\ufffd', 'unknown_field']]);
  });
});

describe('the check of a severity_mapping', () => {
  const codes = (severity_mapping: unknown) =>
    settingsProblems({ severity_mapping } as SettingsChange).map(
      ({ field, code }) => `${field} ${code}`,
    );

  it.each([
    {},
    { low: 'low', medium: 'medium', high: 'high', critical: 'critical' },
    { '0-39': 'low', '40-59.5': 'medium', '60': 'high', '61-': 'critical', sev1: 'critical' },
    { ['x'.repeat(64)]: 'low' },
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`w${at}`, 'low'])),
  ])('accepts %j', (mapping) => expect(codes(mapping)).toEqual([]));

  it.each([
    ['high', 'severity_mapping is_json_object'],
    [['high'], 'severity_mapping is_json_object'],
    [{ P1: 'urgent' }, 'severity_mapping.P1 is_in'],
    [{ P1: 'High' }, 'severity_mapping.P1 is_in'],
    [{ P1: null }, 'severity_mapping.P1 is_in'],
    [{ P1: ['high'] }, 'severity_mapping.P1 is_in'],
    [{ '': 'low' }, 'severity_mapping. matches'],
    [{ '  ': 'low' }, 'severity_mapping.   matches'],
    [{ ['x'.repeat(65)]: 'low' }, `severity_mapping.${'x'.repeat(65)} max_length`],
    [{ '>80': 'high' }, 'severity_mapping.>80 matches'],
    [{ '<= 20': 'low' }, 'severity_mapping.<= 20 matches'],
    [json('{"__proto__": "bad"}'), 'severity_mapping.__proto__ is_in'],
  ])('rejects %j', (mapping, problem) => expect(codes(mapping)).toEqual([problem]));

  it('names the field and its required form', () => {
    const [range] = settingsProblems({ severity_mapping: { '>80': 'low' } });
    expect(range!.message).toBe(
      'severity_mapping.>80 must be a word, a number, or a range such as 0-39.',
    );
  });
});

describe('the check of a type_mapping', () => {
  it.each([
    [{ impostor: 'bec' }, []],
    [{ impostor: 'No Type' }, ['type_mapping.impostor matches']],
    [{ '--': 'bec' }, ['type_mapping.-- matches']],
  ])('returns the problems of %j', (type_mapping, problems) => {
    const found = settingsProblems({ type_mapping });
    expect(found.map(({ field, code }) => `${field} ${code}`)).toEqual(problems);
  });
});
