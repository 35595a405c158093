import { type EvalCase, CASE_KINDS, casesIn } from './lib/case-shape.js';
import { loadCases, PARTS, problemsOf } from './lib/cases.js';
import { ownedNames } from './lib/reserved-names.js';

const dev = loadCases('dev');

/** A case of the set that a test may spoil. */
const someCase = (changes: Partial<EvalCase> = {}): EvalCase => ({
  ...dev[0]!,
  ...changes,
});
const withRawData = (rawData: Record<string, unknown>): EvalCase =>
  someCase({ incident: { ...dev[0]!.incident, incident_type: 'other', raw_data: rawData } });

describe('the labelled set', () => {
  it('keeps to its rules when all parts are taken together', () => {
    expect(PARTS).toContain('dev');
    expect(loadCases().length).toBeGreaterThanOrEqual(dev.length);
  });

  it('has a part for development with all kinds in their shares', () => {
    expect(dev.length).toBeGreaterThanOrEqual(110);
    const least = { phishing: 0.15, bec: 0.07, malware: 0.15, login: 0.15, benign_noise: 0.15 };
    const short = Object.entries(least).filter(
      ([kind, share]) => dev.filter((one) => one.kind === kind).length < share * dev.length,
    );
    expect(short).toEqual([]);
    const kinds = new Set(loadCases().map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(CASE_KINDS));
  });

  it.each([
    ['tools', 60, 12],
    ['held-out-2', 40, 18],
  ])('has in the part %s at least %i alerts as %i tools post them', (part, alerts, tools) => {
    const presets = loadCases(part).flatMap(({ incident }) =>
      'preset' in incident ? [incident.preset] : [],
    );
    expect(presets.length).toBeGreaterThanOrEqual(alerts);
    expect(new Set(presets).size).toBeGreaterThanOrEqual(tools);
  });

  it.each([
    ['tag characters', /[\u{e0020}-\u{e007e}]/u],
    ['zero-width characters', /[\u200b-\u200d]/],
    ['characters that turn the direction', /[\u202a-\u202e\u2066-\u2069]/],
  ])('has injections with %s', (_, hidden) => {
    const texts = dev.flatMap(({ injections }) =>
      injections.map(({ raw_data }) => JSON.stringify(raw_data)),
    );
    expect(texts.some((text) => hidden.test(text))).toBe(true);
  });
});

describe('problemsOf', () => {
  it('names an id that is given twice, of cases and of injections', () => {
    const { id, injections } = dev[0]!;
    const problems = problemsOf([someCase(), someCase()]);
    for (const twice of [id, ...injections.map((one) => one.id)]) {
      expect(problems).toContain(`${twice}: the id is given more than once`);
    }
  });

  it('allows three cases of a template and no fourth', () => {
    const ofOneTemplate = (count: number) =>
      dev.slice(0, count).map((one) => ({ ...one, template: 'same' }));
    expect(problemsOf(ofOneTemplate(3))).toEqual([]);
    expect(problemsOf(ofOneTemplate(4))).toEqual(['same: more than 3 cases of one template']);
  });

  it('refuses raw data that the service would refuse', () => {
    const deep = Array.from({ length: 32 }).reduce<object>((inner) => ({ inner }), {});
    expect(problemsOf([withRawData({ deep })])[0]).toMatch(/32 levels/);
    expect(problemsOf([withRawData({ text: 'x'.repeat(256 * 1024) })])[0]).toMatch(/262144 bytes/);
  });

  it('names hosts that may belong to somebody, in keys and in injections too', () => {
    expect(problemsOf([withRawData({ list: [{ 'bank.com': 'x' }] })])).toEqual([
      `${dev[0]!.id}: bank.com is not reserved for examples`,
    ]);
    const injections = [{ id: 'one', raw_data: { to: 'a@mail.bank.it' } }];
    expect(problemsOf([someCase({ injections })])).toEqual([
      'one: mail.bank.it is not reserved for examples',
    ]);
  });

  it('refuses an injection that changes nothing', () => {
    const { raw_data } = dev[0]!.incident;
    expect(problemsOf([someCase({ injections: [{ id: 'same', raw_data }] })])).toEqual([
      'same: changes nothing',
    ]);
  });

  it('refuses a severity that does not exist and an acceptable that says nothing new', () => {
    const { incident, expected } = dev[0]!;
    const spoilt = someCase({
      incident: { ...incident, severity: 'urgent' },
      expected: { ...expected, acceptable: [expected.classification] },
    });
    expect(problemsOf([spoilt])).toEqual([
      `${spoilt.id}: unknown severity`,
      `${spoilt.id}: acceptable repeats the classification`,
    ]);
  });
});

describe('casesIn', () => {
  it.each([
    ['an unknown classification', { expected: { ...dev[0]!.expected, classification: 'evil' } }],
    ['an unknown preset', { incident: { preset: 'fax', raw_data: {} } }],
    ['an unknown category', { expected: { ...dev[0]!.expected, category: 'hoax' } }],
    ['a single injection', { injections: dev[0]!.injections.slice(0, 1) }],
    ['a field that is not known', { note: 'x' }],
    ['raw data that is a list', { incident: { ...dev[0]!.incident, raw_data: [] } }],
  ])('refuses %s and names the file', (_, changes) => {
    expect(() => casesIn([{ ...dev[0], ...changes }], 'dev/x.json')).toThrow(/^dev\/x\.json\/0/);
  });
});

describe('ownedNames', () => {
  it.each([
    ['https://login.bank.com/x', 'login.bank.com'],
    ['ftp://user@files.strange:21/', 'files.strange'],
    ['write to a.b@post.dk today', 'post.dk'],
    ['goes to evil.ru.', 'evil.ru'],
    ['from 8.8.8.8:53', '8.8.8.8'],
    ['from [2606:4700::1111]', '2606:4700::1111'],
    ['http://[2606:4700::1111]/', '2606:4700::1111'],
    ['https://example.com.evil.io/', 'example.com.evil.io'],
  ])('finds the name in %j', (text, name) => {
    expect(ownedNames(text)).toEqual([name]);
  });

  it.each([
    'https://a.example.com:8443/x https://b.test http://192.0.2.1/ http://[2001:db8::1]/',
    'x@mail.example.org, y@corp.example, 10.0.0.1, ::ffff:10.0.0.1',
    '#graph: @odata.type, color-utils@4.0.3, avtest\\eicar.com.txt, at 09:14:22, 00:00:5e:00:53:01, [Convert]::From()',
  ])('lets %j pass', (text) => {
    expect(ownedNames(text)).toEqual([]);
  });
});
