import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { sealedColumns } from '../../src/app.schema.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { loadSecretKeys } from '../../src/platform/secrets/load-secret-keys.js';
import { SealedValues } from '../../src/platform/secrets/sealed-values.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { SourceDirectory } from '../../src/webhooks/sources/source-directory.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const SECRETS = ['secret-of-the-first-day!', 'secret-of-the-second-day'] as const;
const [old, next] = [0, 0].map(() => randomBytes(32).toString('base64')) as [string, string];

describe('The secrets of webhook sources', () => {
  const lines: string[] = [];
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp({
      settings: { SECRETS_KEY: old, LOG_LEVEL: 'trace' },
      log: { write: (line) => lines.push(line) },
    });
    admin = await as(app, 'admin');
  });
  afterAll(() => app?.close());

  it('are in no answer, no line of the log, and nowhere in the database as they are', async () => {
    const [secret, later] = SECRETS;
    const seen: string[] = [];
    const send = async (method: string, path: string, body?: object, headers = {}) => {
      const answer = await admin.request(method, path, { body, headers });
      seen.push(answer.text, JSON.stringify(answer.headers));
      return answer.status;
    };
    const gateway = { source: 'gateway', secret };
    const key = { 'idempotency-key': 'one-registration' };
    expect(await send('POST', '/api/webhooks', gateway, key)).toBe(201);
    expect(await send('POST', '/api/webhooks', gateway, key)).toBe(201);
    expect(await send('POST', '/api/webhooks', gateway)).toBe(409);
    expect(await send('POST', '/api/webhooks', { ...gateway, enabled: 1 })).toBe(422);
    expect(await send('POST', '/api/webhooks', { ...gateway, secret: ` ${secret}` })).toBe(422);
    expect(await send('PUT', '/api/webhooks/gateway', { secret: later })).toBe(200);
    const list = { secret: [secret], revoke_old_secret: later };
    expect(await send('PUT', '/api/webhooks/gateway', list)).toBe(422);
    for (const path of ['/api/webhooks', '/api/webhooks/gateway', '/api/audit?per_page=100']) {
      expect(await send('GET', path)).toBe(200);
    }
    const database = app.nest.get(DataSource);
    const tables = await database.query<{ name: string }[]>(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    );
    for (const { name } of tables) {
      seen.push(JSON.stringify(await database.query(`select t::text as row from ${name} t`)));
    }
    const everything = [...seen, ...lines].join('\n');
    expect(lines.length).toBeGreaterThan(0);
    expect(everything).toContain('webhook_source.updated');
    expect(SECRETS.filter((one) => everything.includes(one))).toEqual([]);
  });

  it('are read with the new key alone once they are resealed, both of a source', async () => {
    const both = loadSecretKeys(loadSettings({ SECRETS_KEY: `${next},${old}` }));
    const values = new SealedValues(app.nest.get(DataSource), sealedColumns);
    const resealed = await values.reseal(new SecretBox(both), both.ids[0]!);
    expect(resealed).toBeGreaterThanOrEqual(2);
    const after = await startTestApp({ database: app.database, settings: { SECRETS_KEY: next } });
    try {
      const found = await after.nest.get(SourceDirectory).find('gateway');
      expect(found?.secrets.map(({ value }) => value)).toEqual([SECRETS[1], SECRETS[0]]);
    } finally {
      await after.close();
    }
  });
});
