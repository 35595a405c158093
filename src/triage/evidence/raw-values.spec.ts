import { resolvePointer } from '../../platform/json-pointer.js';
import { plainName, rawTexts, rawValues } from './raw-values.js';

const named = (root: unknown) => rawValues(root).values.map(({ name, owner }) => [name, owner]);

describe('rawValues', () => {
  it('returns each scalar with its pointer, and returns scalars near the root first', () => {
    const root = { deep: { a: [1, { 'b/c': 'x' }] }, near: 'y', yes: true, no: null };
    const { values, cut } = rawValues(root);
    expect(values.map(({ pointer }) => pointer)).toEqual([
      '/near',
      '/yes',
      '/deep/a/0',
      '/deep/a/1/b~1c',
    ]);
    for (const { pointer, value } of values) expect(resolvePointer(root, pointer)).toBe(value);
    expect(cut).toEqual([]);
  });

  it('returns the names of values, even in lists and in lists of headers', () => {
    expect(named({ 'File-Name': 'a' })).toEqual([['filename', '']]);
    expect(named({ urls: ['a'] })).toEqual([['urls', '']]);
    expect(named({ user: { name: 'a' } })).toEqual([['name', 'user']]);
    expect(named({ headers: [{ key: 'Reply-To', value: 'a' }] })).toContainEqual([
      'replyto',
      'headers',
    ]);
    expect(named({ headers: [{ name: 'Reply-To', value: 'a' }] })).toEqual([
      ['name', 'headers'],
      ['replyto', 'headers'],
    ]);
  });

  it.each([
    [{ data: [{ 'code-signature': { Trusted: 1 } }] }, 'data/codesignature/trusted'],
    [{ 'process.code_signature.trusted': 1 }, 'process/codesignature/trusted'],
    [{ 'x/y': { trusted: 1 } }, 'xy/trusted'],
    [{ '---': { trusted: 1 } }, '_/trusted'],
    [{ data: { trusted: 1 }, decoder: { name: 'json' } }, 'decoded/trusted'],
    [{ data: { trusted: 1 }, decoder: { name: 'sshd' } }, 'data/trusted'],
  ])('given %j, returns for the value the path %s', (root, path) => {
    const { values } = rawValues(root);
    expect(values.find(({ value }) => value === 1)!.path).toBe(path);
  });

  it('reads only own keys, including a key with the name __proto__', () => {
    const root = JSON.parse('{"__proto__":{"host":"a"},"constructor":"b"}') as unknown;
    expect(rawTexts(root).map(({ pointer }) => pointer)).toEqual([
      '/constructor',
      '/__proto__/host',
    ]);
  });

  it.each([undefined, null, {}, []])('finds nothing in %j', (root) => {
    expect(rawValues(root)).toEqual({ values: [], cut: [] });
  });

  it('returns a root that is a scalar', () => {
    expect(rawTexts('x')).toEqual([{ pointer: '', name: '', owner: '', path: '', value: 'x' }]);
  });

  it('stops at its limits, and returns pointers to the omitted places', () => {
    const limits = { values: 100, items: 2, levels: 2 };
    const root = { list: [1, 2, 3], a: { b: { c: 'too deep' } } };
    const { values, cut } = rawValues(root, limits);
    expect(values.map(({ pointer }) => pointer)).toEqual(['/list/0', '/list/1']);
    expect(cut).toEqual(['/list', '/a/b']);
  });

  it('stops at its limit of values', () => {
    const { values, cut } = rawValues(
      { a: Array.from({ length: 90 }, String), b: Array.from({ length: 90 }, String) },
      { values: 100, items: 1_000, levels: 9 },
    );
    expect(values).toHaveLength(98);
    expect(cut).toEqual(['/b']);
  });

  it('reads raw data of 100,000 levels and keys of 1,000,000 characters', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    expect(rawValues(deep).cut).toHaveLength(1);
    expect(rawValues({ ['k'.repeat(1_000_000)]: 'x', b: 'y' })).toMatchObject({
      values: [{ pointer: '/b' }],
      cut: [''],
    });
  });
});

describe('plainName', () => {
  it.each([
    ['File-Name', 'filename'],
    ['user_name', 'username'],
    ['Ünïcode', 'ncode'],
    ['', ''],
  ])('turns %j into %j', (key, name) => {
    expect(plainName(key)).toBe(name);
  });
});
