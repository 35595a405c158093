/** @jest-environment-options {"ownModules": true} */
import { Logger } from '@nestjs/common';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { loadSecretKeys } from '../../platform/secrets/secret-keys.js';
import { loadSettings } from '../../platform/config/settings.js';
import { WebhookSourcesService } from './webhook-sources.service.js';
import { DEFAULT_SETTINGS } from './source-rules.js';
import type { WebhookSourceEntity } from './webhook-source.entity.js';

/** Only the first two dependencies are needed to receive events. */
const Receiving = WebhookSourcesService as new (...parts: unknown[]) => WebhookSourcesService;
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const SECRET = 'secret-of-a-mail-gateway';
const START = new Date('2026-11-22T10:00:00.000Z');

describe('the cache of webhook sources', () => {
  const box = new SecretBox(loadSecretKeys(loadSettings({ SECRETS_KEY })));
  let now: number;
  let table: WebhookSourceEntity[];
  let reads: number;
  let answer: (rows: WebhookSourceEntity[]) => Promise<WebhookSourceEntity[]>;
  let directory: WebhookSourcesService;

  const rowOf = (source: string, more: Partial<WebhookSourceEntity> = {}): WebhookSourceEntity => ({
    source,
    ...DEFAULT_SETTINGS,
    secret: box.seal(SECRET, `webhook:${source}`),
    previous_secret: null,
    previous_secret_until: null,
    created_by: 'admin',
    created_at: START,
    updated_at: START,
    ...more,
  });
  const secretsOf = async (name: string) =>
    (await directory.find(name))?.secrets.map(({ value }) => value);

  beforeEach(() => {
    now = 10_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    reads = 0;
    answer = (rows) => Promise.resolve(rows);
    const all = () => {
      reads += 1;
      // Simulates that a statement takes time and reads the rows that existed at its start.
      now += 0.001;
      return answer([...table]);
    };
    directory = new Receiving({ getRepository: () => ({ find: all }) }, box);
    table = [rowOf('known')];
    now += 0.001;
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('uses the result of a read for 500 ms', async () => {
    expect(await secretsOf('known')).toEqual([SECRET]);
    for (now = 10_001; now < 10_500; now += 20) expect(await secretsOf('known')).toEqual([SECRET]);
    expect(reads).toBe(1);
    table = [rowOf('known', { enabled: false })];
    now = 10_502;
    expect(await directory.find('known')).toMatchObject({ enabled: false });
  });

  it('does not use the result of a read that began too early', async () => {
    const finish: (() => void)[] = [];
    answer = (rows) => new Promise((resolve) => finish.push(() => resolve(rows)));
    const first = directory.find('known');
    table = [];
    now += 900;
    const second = directory.find('known');
    for (const end of finish) end();
    expect(await first).toBeDefined();
    expect(await second).toBeUndefined();
    expect(reads).toBe(2);
  });

  it('finds a source of another replica after 500 ms, and unknown names cause no additional reads', async () => {
    await directory.find('known');
    table.push(rowOf('made-elsewhere'));
    const from = now;
    let names = 0;
    while (now < from + 1_000) {
      const found = await directory.find('made-elsewhere');
      if (now > from + 502) expect(found).toBeDefined();
      await Promise.all(
        Array.from({ length: 10 }, () => directory.find(`stranger-${(names += 1)}`)),
      );
      now += 1;
    }
    expect(reads).toBeLessThanOrEqual(3);
  });

  it('does not query the database for an invalid name', async () => {
    for (const name of ['', 'A', 'a b', 'ä', '../x', '__proto__', 'a'.repeat(64), '\0', '\ud800']) {
      expect(await directory.find(name)).toBeUndefined();
    }
    expect(reads).toBe(0);
  });

  it('runs one read at a time', async () => {
    let most = 0;
    let underWay = 0;
    answer = async (rows) => {
      most = Math.max(most, (underWay += 1));
      await new Promise(setImmediate);
      underWay -= 1;
      return rows;
    };
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => directory.find(n % 2 ? 'known' : `unknown-${n}`)),
    );
    expect(most).toBe(1);
    expect(reads).toBe(1);
  });

  it('reads again after a change in this process, even during a read', async () => {
    const early = directory.find('known');
    table = [];
    now += 1;
    directory.forget();
    now += 1;
    expect(await directory.find('known')).toBeUndefined();
    await early;
    expect(reads).toBe(2);
  });

  it('given a database outage → uses the last result for 500 ms, then throws', async () => {
    await directory.find('known');
    answer = () => Promise.reject(new Error('connection refused'));
    now += 400;
    expect(await secretsOf('known')).toEqual([SECRET]);
    expect(await directory.find('unknown')).toBeUndefined();
    now += 200;
    await expect(directory.find('known')).rejects.toThrow('connection refused');
    answer = (rows) => Promise.resolve(rows);
    expect(await secretsOf('known')).toEqual([SECRET]);
  });

  it('given a secret that cannot be decrypted → the source has no secret, and other sources work', async () => {
    const told = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    // Each secret is encrypted for its own source, so a copied secret cannot be decrypted.
    table.push(rowOf('copied', { secret: table[0]!.secret }), rowOf('altered', { secret: 'v1.x' }));
    table.push(rowOf('lost', { secret: null, enabled: false }));
    expect(await secretsOf('known')).toEqual([SECRET]);
    for (const name of ['copied', 'altered', 'lost']) expect(await secretsOf(name)).toEqual([]);
    now += 1_000;
    expect(await secretsOf('copied')).toEqual([]);
    expect(told.mock.calls.map(([shown]) => shown as object)).toEqual([
      { source: 'copied' },
      { source: 'altered' },
    ]);
  });
});
