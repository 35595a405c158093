import type { Mapping, ReadingRules } from '../sources/webhook-source.entity.js';
import { readingProblems } from './reading-problems.js';

const json = (text: string) => JSON.parse(text) as unknown;

describe('the problems of a mapping', () => {
  const codes = (mapping: unknown) =>
    readingProblems({ mapping } as Partial<ReadingRules>).map(({ field, code }) => [field, code]);

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

  it('accepts 32 lifted keys, 10 pointers and 512 characters', () => {
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

describe('the problems of a severity_mapping', () => {
  const codes = (severity_mapping: unknown) =>
    readingProblems({ severity_mapping } as Partial<ReadingRules>).map(
      ({ field, code }) => `${field} ${code}`,
    );

  it.each([
    {},
    { low: 'low', medium: 'medium', high: 'high', critical: 'critical' },
    { '0-39': 'low', '40-59.5': 'medium', '60': 'high', '61-': 'critical', sev1: 'critical' },
    { ['x'.repeat(64)]: 'low' },
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`w${at}`, 'low'])),
  ])('are none: %j', (mapping) => expect(codes(mapping)).toEqual([]));

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
  ])('of %j', (mapping, problem) => expect(codes(mapping)).toEqual([problem]));

  it('name the field and what it must be', () => {
    const [range] = readingProblems({ severity_mapping: { '>80': 'low' } });
    expect(range!.message).toBe(
      'severity_mapping.>80 must be a word, a number, or a range such as 0-39.',
    );
  });
});

describe('the problems of a type_mapping', () => {
  it.each([
    [{ impostor: 'bec' }, []],
    [{ impostor: 'No Type' }, ['type_mapping.impostor matches']],
    [{ '--': 'bec' }, ['type_mapping.-- matches']],
  ])('of %j', (type_mapping, problems) => {
    const found = readingProblems({ type_mapping });
    expect(found.map(({ field, code }) => `${field} ${code}`)).toEqual(problems);
  });
});
