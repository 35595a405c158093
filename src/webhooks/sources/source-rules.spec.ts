import { PRESETS } from '../reading/formats.js';
import {
  DEFAULT_SETTINGS,
  SECRET,
  type SettingsChange,
  secretProblem,
  settingsAfter,
  settingsProblems,
} from './source-rules.js';
import { type Preset, SIGNATURE_SCHEMES } from './webhook-source.entity.js';

const MAPPING = { title: '/title' };

const presetWith = (matches: (preset: Preset) => boolean): Preset => PRESETS.find(matches)!;
const WITH_WORDS = presetWith(({ severity_mapping }) => severity_mapping !== undefined);
const WITHOUT_WORDS = presetWith(({ severity_mapping }) => severity_mapping === undefined);

const codes = (change: SettingsChange) =>
  settingsProblems(change).map(({ field, code }) => `${field}: ${code}`);
const made = (change: SettingsChange) => settingsAfter(DEFAULT_SETTINGS, change);

describe('settingsProblems', () => {
  it('accepts an empty change, and each format alone', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ format: 'ocsf' })).toEqual([]);
    expect(codes({ format: 'mapping', mapping: MAPPING })).toEqual([]);
    expect(codes({ mapping: MAPPING })).toEqual([]);
    expect(codes({ preset: WITH_WORDS.name, format: 'mapping' })).toEqual([]);
  });

  it('rejects a mapping or a preset with another format', () => {
    expect(codes({ format: 'auto', mapping: MAPPING })).toEqual(['format: is_in']);
    expect(codes({ format: 'generic', preset: WITH_WORDS.name })).toEqual(['format: is_in']);
  });

  it('returns problems of the mapping and the severities', () => {
    const wrong = { title: 'no pointer' };
    expect(settingsProblems({ mapping: wrong })[0]!.field).toBe('mapping.title');
    const words = { urgent: 'worst' } as unknown as SettingsChange['severity_mapping'];
    expect(settingsProblems({ severity_mapping: words })[0]!.field).toBe('severity_mapping.urgent');
  });
});

describe('settingsAfter', () => {
  it('changes given settings and keeps the others', () => {
    const before = made({ playbook: 'phishing-response', incident_type: 'phishing' });
    const after = settingsAfter(before, { auto_triage: true, playbook: undefined });
    expect(after).toEqual({ ...before, auto_triage: true });
    expect(settingsAfter(after, { playbook: '' })).toEqual({ ...after, playbook: null });
  });

  it('keeps only settings of a row', () => {
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

  it('detaches a source with a new mapping from its preset', () => {
    expect(made({ mapping: MAPPING })).toMatchObject({ format: 'mapping', mapping: MAPPING });
    const after = settingsAfter(made({ preset: WITH_WORDS.name }), { mapping: MAPPING });
    expect(after).toMatchObject({ format: 'mapping', mapping: MAPPING, preset: null });
  });

  it('removes mapping and preset with another format', () => {
    const after = settingsAfter(made({ preset: WITH_WORDS.name }), { format: 'auto' });
    expect(after).toMatchObject({ format: 'auto', mapping: null, preset: null });
  });
});

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0xfe).toString('base64');

describe('secretProblem', () => {
  it.each([
    ['plain text', 'sixteen-letters!'],
    ['base64 of 16 bytes', `whsec_${base64(16)}`],
    ['base64 of 24 bytes', `whsec_${base64(24)}`],
    ['base64 of 64 bytes', `whsec_${base64(64)}`],
    ['base64 without its padding', `whsec_${base64(16).replaceAll('=', '')}`],
  ])('accepts %s for every signature', (_, secret) => {
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
  ])('rejects %s after whsec_ only for standard', (_, secret) => {
    expect(secretProblem(secret, 'standard')).toMatch(/whsec_/);
    expect(secretProblem(secret, 'standard')).not.toMatch(/whsec_\S/);
    expect(secretProblem(secret, 'body')).toBeUndefined();
  });

  it.each([
    'a secret of some words',
    'schlüssel-des-tors',
    'tab\tin-the-middle',
    'with-a-\u200b-in-it',
  ])('rejects %j only for token', (secret) => {
    expect(secretProblem(secret, 'token')).toMatch(/header/);
    expect(secretProblem(secret, 'timestamped')).toBeUndefined();
  });
});

describe('the secret of basic', () => {
  it('may have spaces, but no letters outside ASCII', () => {
    expect(secretProblem('a secret of some words', 'basic')).toBeUndefined();
    for (const secret of ['schlüssel-des-tors', 'tab\tin-the-middle']) {
      expect(secretProblem(secret, 'basic')).toMatch(/password/);
    }
  });
});

describe('SECRET', () => {
  it.each([' x', 'x ', '\tx', 'x\n', '\ufeffx', 'x\u00a0', ' ', ''])('rejects %j', (text) => {
    expect(SECRET.test(text)).toBe(false);
  });

  it('accepts white space inside, in linear time', () => {
    expect(SECRET.test('two words\nand a line')).toBe(true);
    expect(SECRET.test(`x${' '.repeat(1_000_000)}`)).toBe(false);
  });
});
