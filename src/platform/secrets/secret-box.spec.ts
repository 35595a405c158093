import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { loadSettings } from '../config/settings.js';
import { readSecretKey } from '../config/setting-parsers.js';
import { SecretBox, SecretKeys, UnreadableSecretError } from './secret-box.js';

const newKey = (): string => randomBytes(32).toString('base64');
const keysOf = (...keys: string[]): SecretKeys => new SecretKeys(keys.map(readSecretKey));
const boxOf = (...keys: string[]): SecretBox => new SecretBox(keysOf(...keys));

describe('SecretBox', () => {
  const key = newKey();
  const box = boxOf(key);

  it.each([
    ['an empty text', ''],
    ['a word', 'hunter2'],
    ['a long text', '🔑'.repeat(1000)],
  ])('opens a sealed secret: %s', (_, plain) => {
    const sealed = box.seal(plain, 'connector:1');
    expect(sealed).toMatch(/^v1\.[0-9a-f]{16}\.[A-Za-z0-9_-]+$/);
    expect(box.open(sealed, 'connector:1')).toBe(plain);
    expect(boxOf(key).open(sealed, 'connector:1')).toBe(plain);
  });

  it('seals the same text differently each time', () => {
    const sealed = Array.from({ length: 100 }, () => box.seal('same', 'c'));
    expect(new Set(sealed).size).toBe(100);
  });

  it('refuses another context and any altered character, without revealing the secret', () => {
    const sealed = box.seal('hunter2', 'connector:1');
    const refused = (text: string, context: string): void => {
      expect(() => box.open(text, context)).toThrow(UnreadableSecretError);
    };
    refused(sealed, 'connector:2');
    refused('', 'connector:1');
    refused('hunter2', 'connector:1');
    refused(sealed.slice(0, -8), 'connector:1');
    for (let at = sealed.lastIndexOf('.') + 1; at < sealed.length - 1; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      refused(sealed.slice(0, at) + other + sealed.slice(at + 1), 'connector:1');
    }
  });

  it('names only the missing key if it cannot open a secret', () => {
    const sealed = boxOf(newKey()).seal('hunter2', 'c');
    expect(() => box.open(sealed, 'c')).toThrow('which SECRETS_KEY does not contain');
    expect(() => box.open(sealed, 'c')).toThrow(sealed.split('.')[1]);
  });

  it('seals with the first key and opens with all keys', () => {
    const [first, rotated] = [boxOf(key), boxOf(newKey(), key)];
    const old = first.seal('hunter2', 'c');
    expect(rotated.open(old, 'c')).toBe('hunter2');
    expect(() => first.open(rotated.seal('hunter2', 'c'), 'c')).toThrow(
      'which SECRETS_KEY does not contain',
    );
    expect(() => rotated.open(old, 'd')).toThrow(UnreadableSecretError);
  });
});

describe('SecretKeys', () => {
  it('derives the same key for the same purpose, and different keys for different purposes', () => {
    const key = newKey();
    const derived = (purpose: string): string =>
      keysOf(key).derive(purpose).first.key.export().toString('hex');
    expect(derived('a')).toBe(derived('a'));
    expect(
      new Set([derived('a'), derived('b'), readSecretKey(key).export().toString('hex')]).size,
    ).toBe(3);
  });

  it('shows no key when it is printed', () => {
    const keys = [newKey(), newKey()];
    const settings = loadSettings({ SECRETS_KEY: keys.join(', ') });
    const secretKeys = new SecretKeys(settings.secretsKey);
    const ring = secretKeys.derive('test');
    const hidden = [
      ...settings.secretsKey.map((key) => key.export()),
      ring.first.key.export(),
    ].flatMap((bytes) => [
      bytes.toString('base64'),
      bytes.toString('hex'),
      bytes.toString('latin1'),
    ]);
    const things = { settings, secretKeys, ring, box: new SecretBox(secretKeys) };
    for (const shown of [
      inspect(things, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify(things),
    ]) {
      for (const secret of hidden) expect(shown).not.toContain(secret);
      for (const bytes of settings.secretsKey) {
        expect(shown).not.toContain(inspect(bytes.export()).slice(8, 40));
      }
    }
  });

  it('refuses duplicate keys, and an empty list', () => {
    const key = newKey();
    expect(() => keysOf(key, key)).toThrow('SECRETS_KEY must');
    expect(() => keysOf()).toThrow('SECRETS_KEY must');
  });

  it.each([
    ['of a key that is too short', randomBytes(31).toString('base64')],
    ['of a key that is too long', randomBytes(33).toString('base64')],
    ['in hexadecimal', randomBytes(32).toString('hex')],
    ['that is not base64', 'not base64 at all'],
    ['whose second key is too short', `${randomBytes(32).toString('base64')},short`],
  ])('refuses a setting %s, and does not show the setting in the error', (_, value) => {
    expect(() => loadSettings({ SECRETS_KEY: value })).toThrow(
      /^SECRETS_KEY must be comma-separated base64 keys of 32 bytes each\.$/,
    );
  });
});
