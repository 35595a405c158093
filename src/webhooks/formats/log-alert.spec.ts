import type { Json } from '../reading/json.js';
import { logAlert } from './log-alert.js';

const idOf = (result: Json, sid: Json = 's1') => logAlert.read({ sid, result })?.eventId;

describe('the id of a search alert', () => {
  it('is the sid with the SHA-256 of the row', () => {
    expect(idOf({})).toBe('s1:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });

  it('is the same in whatever order the row has its keys', () => {
    const row = { a: '1', b: { c: '2', d: ['x', { e: 1, f: 2 }] } };
    const turned = { b: { d: ['x', { f: 2, e: 1 }], c: '2' }, a: '1' };
    expect(idOf(row)).toBe(idOf(turned));
  });

  it('is another for each row and for each search', () => {
    const rows = [
      { a: '1' },
      { a: 1 },
      { a: ['1'] },
      { a: ['1', '2'] },
      { a: ['2', '1'] },
      { a: JSON.rawJSON('12345678901234567890') },
      { a: JSON.rawJSON('12345678901234567891') },
      JSON.parse('{"a": "1", "__proto__": "x"}') as Json,
    ];
    expect(new Set(rows.map((row) => idOf(row))).size).toBe(rows.length);
    expect(idOf({ a: '1' }, 's2')).not.toBe(idOf({ a: '1' }));
  });

  it('is left to the body when there is no sid', () => {
    expect(logAlert.read({ search_name: 'n', result: {} })?.eventId).toBeUndefined();
  });
});

describe('a search alert', () => {
  it.each([
    [{ severity: 'low' }, 'low'],
    [{ severity: 'low', urgency: 'high' }, 'high'],
    [{ severity: 'low', urgency: ' ' }, 'low'],
    [{ severity: 7 }, '7'],
    [{ severity: {} }, undefined],
  ])('with %j says the severity %s', (result, said) => {
    expect(logAlert.read({ search_name: 'n', result })?.severity?.said).toBe(said);
  });

  it('takes the first word of the row that is a known type', () => {
    const typeOf = (result: Json) => logAlert.read({ search_name: 'n', result })?.type;
    expect(typeOf({ incident_type: 'bec', category: 'malware' })).toBe('bec');
    expect(typeOf({ incident_type: 'weather', category: 'Malware' })).toBe('malware');
    expect(typeOf({ category: 'weather' })).toBeUndefined();
  });

  it.each<Json>([
    { result: {} },
    { result: 'x', sid: 's' },
    { result: [], search_name: 'n' },
    { sid: 's', search_name: 'n' },
    { result: {}, sid: 12, search_name: null },
  ])('is not read from %j', (event) => expect(logAlert.read(event)).toBeUndefined());
});
