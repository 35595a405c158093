import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { loadSettings } from '../config/settings.js';
import { loadSecretKeys } from './secret-keys.js';
import { SecretBox } from './secret-box.js';

const newKey = (): string => randomBytes(32).toString('base64');

describe('loadSecretKeys', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'its-keys-'));
    file = join(folder, 'data', 'secrets.key');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const boxOf = (environment: Record<string, string> = {}): SecretBox =>
    new SecretBox(loadSecretKeys(loadSettings({ DATA_DIR: join(folder, 'data'), ...environment })));

  it('uses the keys of the setting and creates no file', () => {
    const key = newKey();
    const sealed = boxOf({ SECRETS_KEY: key }).seal('x', 'c');
    expect(
      boxOf({ SECRETS_KEY: `${newKey()},${key}`, DATABASE_URL: 'postgres://db' }).open(sealed, 'c'),
    ).toBe('x');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('throws a one-line error for an external database without a key', () => {
    const load = (): unknown => boxOf({ DATABASE_URL: 'postgres://db/name' });
    expect(load).toThrow(/^DATABASE_URL requires SECRETS_KEY: [^\n]+\.$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('creates a key file for the embedded database, readable only by its owner, and reuses the file', () => {
    const sealed = boxOf().seal('x', 'c');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'data'))).toEqual(['secrets.key']);
    expect(boxOf().open(sealed, 'c')).toBe('x');
  });

  it('seals with the first key in the file and opens with all keys', () => {
    const sealed = boxOf().seal('x', 'c');
    writeFileSync(file, `${newKey()}\n${readFileSync(file, 'utf8')}`);
    expect(boxOf().seal('x', 'c').split('.')[1]).not.toBe(sealed.split('.')[1]);
    expect(boxOf().open(sealed, 'c')).toBe('x');
  });

  it.each([
    ['its group may read', 0o640],
    ['everybody may read', 0o604],
    ['its group may write', 0o620],
  ])('refuses a file that %s', (_, mode) => {
    boxOf();
    chmodSync(file, mode);
    expect(() => boxOf()).toThrow(/^[^\n]*secrets\.key is readable by other users\. [^\n]+\.$/);
  });

  it.each([
    ['without content', ''],
    ['with something else', 'no key'],
    ['with a short key', randomBytes(16).toString('base64')],
  ])('refuses a file %s, and does not show its contents in the error', (_, content) => {
    boxOf();
    writeFileSync(file, content);
    expect(() => boxOf()).toThrow(
      /^[^\n]*secrets\.key (is empty|must be comma-separated base64 keys)[^\n]+\.$/,
    );
    if (content !== '') expect(() => boxOf()).not.toThrow(content);
  });
});
