import type { Json, JsonObject } from '../reading/json.js';
import { ocsf } from './ocsf.js';

const read = (over: JsonObject) =>
  ocsf.read({ class_uid: 2004, finding_info: { uid: 'u', title: 't' }, ...over });
const ofTypes = (types: Json) => read({ finding_info: { uid: 'u', types } })?.type;

describe('a finding of OCSF', () => {
  it.each([
    [0, undefined],
    [1, 'low'],
    [2, 'low'],
    [3, 'medium'],
    [4, 'high'],
    [5, 'critical'],
    [6, 'critical'],
    [7, undefined],
    [99, undefined],
    ['4', 'high'],
  ])('with the severity id %p has the level %s', (severity_id, level) =>
    expect(read({ severity_id })?.severity).toMatchObject({ said: String(severity_id), level }),
  );

  it('says the word of its severity when it has one', () => {
    expect(read({ severity_id: 99, severity: 'P1' })?.severity).toEqual({ said: 'P1', number: 99 });
    expect(read({ severity: 'High' })?.severity).toEqual({ said: 'High' });
    expect(read({})?.severity).toBeUndefined();
  });

  it.each([
    [['Malware'], 'malware'],
    [['TTPs/Initial Access', 'Effects/Data Exfiltration'], 'data_exfiltration'],
    [['Data Encrypted for Impact'], 'ransomware'],
    ['Phishing', 'phishing'],
    [['Software and Configuration Checks'], undefined],
    [[{}, null, 7], undefined],
    [Array.from({ length: 30 }, (_, at) => (at === 25 ? 'Malware' : 'x')), undefined],
    [`${'x/'.repeat(25)}Malware`, undefined],
    ['x/'.repeat(500_000), undefined],
  ])('of the types %j is of the type %s', (types, type) => expect(ofTypes(types)).toBe(type));

  it('is about malware when it describes some, unless its types say more', () => {
    const malware = [{ name: 'Dropper.B' }];
    expect(read({ malware })?.type).toBe('malware');
    expect(read({ malware: [] })?.type).toBeUndefined();
    const ransomware = { uid: 'u', types: ['Ransomware'] };
    expect(read({ malware, finding_info: ransomware })?.type).toBe('ransomware');
  });

  it.each([
    [{ finding_info: { uid: 'u', title: 't' } }, 't'],
    [{ finding_info: { uid: 'u' }, message: 'm' }, 'm'],
    [{ finding_info: { uid: 'u', analytic: { name: 'a' } } }, 'a'],
    [{ finding_info: { uid: 'u' } }, 'u'],
    [{ device: { ip: '192.0.2.7' }, resources: [{ name: 'r' }] }, 't (192.0.2.7)'],
    [{ resources: [{ name: 'r' }, { name: 's' }] }, 't (r)'],
  ] as const)('from %j has the title %s', (over, title) =>
    expect(read(over as JsonObject)?.title).toBe(title),
  );

  it.each<JsonObject>([
    { class_uid: 2001 },
    { class_uid: 'x' },
    { finding_info: {} },
    { finding_info: [] },
  ])('is not read with %j', (over) => expect(read(over)).toBeUndefined());
});
