import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { loadSettings, SettingError } from '../config/load-settings.js';
import { readSecretKey } from '../config/setting.js';
import { SecretBox } from './secret-box.js';
import { SecretKeys } from './secret-keys.js';
import { UnknownSecretKeyError, UnreadableSecretError } from './secrets.errors.js';

const newKey = (): string => randomBytes(32).toString('base64');
const keysOf = (...keys: string[]): SecretKeys => new SecretKeys(keys.map(readSecretKey));
const boxOf = (...keys: string[]): SecretBox => new SecretBox(keysOf(...keys));

describe('SecretBox', () => {
  const key = newKey();
  const box = boxOf(key);

  it.each(['', 'hunter2', '🔑'.repeat(1000)])('opens what it sealed', (plain) => {
    const sealed = box.seal(plain, 'connector:1');
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
    expect(box.open(sealed, 'connector:1')).toBe(plain);
    expect(boxOf(key).open(sealed, 'connector:1')).toBe(plain);
  });

  it('never seals the same text alike', () => {
    const sealed = Array.from({ length: 100 }, () => box.seal('same', 'c'));
    expect(new Set(sealed).size).toBe(100);
  });

  it('refuses another context, and every altered character, without saying what is inside', () => {
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

  it('names the key that is missing, and only that', () => {
    const sealed = boxOf(newKey()).seal('hunter2', 'c');
    expect(() => box.open(sealed, 'c')).toThrow(UnknownSecretKeyError);
    expect(() => box.open(sealed, 'c')).toThrow(sealed.split('.')[1]);
  });

  it('rotates: the first key seals, all open, and old secrets can be told and sealed again', () => {
    const [first, rotated] = [boxOf(key), boxOf(newKey(), key)];
    const old = first.seal('hunter2', 'c');
    expect(rotated.open(old, 'c')).toBe('hunter2');
    expect(first.isSealedWithOldKey(old)).toBe(false);
    expect(rotated.isSealedWithOldKey(old)).toBe(true);
    const resealed = rotated.reseal(old, 'c');
    expect(rotated.isSealedWithOldKey(resealed)).toBe(false);
    expect(rotated.open(resealed, 'c')).toBe('hunter2');
    expect(() => first.open(resealed, 'c')).toThrow(UnknownSecretKeyError);
    expect(() => rotated.reseal(old, 'd')).toThrow(UnreadableSecretError);
  });
});

describe('SecretKeys', () => {
  it('derives the same key for the same purpose, and others for others', () => {
    const key = newKey();
    const derived = (purpose: string): string =>
      keysOf(key).derive(purpose).first.key.export().toString('hex');
    expect(derived('a')).toBe(derived('a'));
    expect(
      new Set([derived('a'), derived('b'), readSecretKey(key).export().toString('hex')]).size,
    ).toBe(3);
  });

  it('is never shown, wherever it is printed', () => {
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

  it('takes only different keys', () => {
    const key = newKey();
    expect(() => keysOf(key, key)).toThrow(SettingError);
    expect(() => keysOf()).toThrow(SettingError);
  });

  it.each([
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    randomBytes(32).toString('hex'),
    'not base64 at all',
    `${randomBytes(32).toString('base64')},short`,
  ])('refuses a setting that is no list of keys, without repeating it', (value) => {
    expect(() => loadSettings({ SECRETS_KEY: value })).toThrow(
      /^SECRETS_KEY must be keys of 32 bytes in base64, comma separated\.$/,
    );
  });
});
