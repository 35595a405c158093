import { createKey, hashOf, readKey } from './key-format.js';

describe('the format of API keys', () => {
  it('creates unique keys of the documented form', () => {
    const keys = Array.from({ length: 500 }, () => createKey());
    expect(new Set(keys.map(({ key }) => key)).size).toBe(500);
    expect(new Set(keys.map(({ prefix }) => prefix)).size).toBe(500);
    for (const { key, prefix, hash } of keys) {
      expect(key).toMatch(/^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
      expect(key.slice(4, 12)).toBe(prefix);
      expect(hash).toEqual(hashOf(key));
      expect(hash).toHaveLength(32);
    }
  });

  it.each([
    '',
    'its_',
    'its_AAAAAAAA',
    `its_AAAAAAAA_${'A'.repeat(42)}`,
    `its_AAAAAAAA_${'A'.repeat(44)}`,
    `its_AAAA-AAA_${'A'.repeat(43)}`,
    `ITS_AAAAAAAA_${'A'.repeat(43)}`,
    `its_AAAAAAAA_${'A'.repeat(43)}\n`,
  ])('rejects the text %j', (text) => {
    expect(readKey(text)).toBeUndefined();
  });
});
