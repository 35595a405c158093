import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { sealedColumns } from '../../src/app.schema.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { loadSecretKeys } from '../../src/platform/secrets/load-secret-keys.js';
import { SealedValues } from '../../src/platform/secrets/sealed-values.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { SourceDirectory } from '../../src/webhooks/sources/source-directory.js';
import { query } from '../support/embedded/query.js';
import { as } from '../support/principals.js';
import { ServiceProcess } from '../support/service-process.js';
import { startTestApp, type TestApp, TEST_SETTINGS } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';

const SECRETS = ['secret-of-the-first-day!', 'secret-of-the-second-day'] as const;
const ADMIN_KEY = `its_firstKey_${'k'.repeat(43)}`;

describe('The secrets of webhook sources', () => {
  it('are in no answer, no line of the log, and nowhere in the database as they are', async () => {
    const database = await createTestDatabase();
    const service = await ServiceProcess.start({
      settings: {
        DATABASE_URL: database.url,
        SECRETS_KEY: TEST_SETTINGS['SECRETS_KEY']!,
        LOG_LEVEL: 'trace',
        BOOTSTRAP_ADMIN_API_KEY: ADMIN_KEY,
      },
    });
    try {
      const admin = service.client.with({ authorization: `Bearer ${ADMIN_KEY}` });
      const [secret, next] = SECRETS;
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
      expect(await send('PUT', '/api/webhooks/gateway', { secret: next })).toBe(200);
      const list = { secret: [secret], revoke_old_secret: next };
      expect(await send('PUT', '/api/webhooks/gateway', list)).toBe(422);
      for (const path of ['/api/webhooks', '/api/webhooks/gateway', '/api/audit?per_page=100']) {
        expect(await send('GET', path)).toBe(200);
      }
      await service.stop();
      seen.push(...service.lines);
      const tables = await query<{ name: string }>(
        database.url,
        `select relname as name from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
      );
      for (const { name } of tables) {
        seen.push(
          JSON.stringify(await query(database.url, `select t::text as row from ${name} t`)),
        );
      }
      const everything = seen.join('\n');
      expect(everything).toContain('webhook_source.updated');
      expect(SECRETS.filter((one) => everything.includes(one))).toEqual([]);
    } finally {
      await ServiceProcess.endAll();
      await database.drop();
    }
  });

  describe('after the key was changed', () => {
    const [old, next] = [0, 0].map(() => randomBytes(32).toString('base64')) as [string, string];
    let app: TestApp;

    const on = (SECRETS_KEY: string) =>
      startTestApp({ database: app.database, settings: { SECRETS_KEY } });
    const keys = (SECRETS_KEY: string) => loadSecretKeys(loadSettings({ SECRETS_KEY }));
    const values = () => new SealedValues(app.nest.get(DataSource), sealedColumns);
    const register = async () => {
      const admin = await as(app, 'admin');
      const body = { source: 'gateway', secret: SECRETS[0] };
      await admin.request('POST', '/api/webhooks', { body });
      await admin.request('PUT', '/api/webhooks/gateway', { body: { secret: SECRETS[1] } });
    };

    beforeEach(async () => {
      app = await startTestApp({ settings: { SECRETS_KEY: old } });
      await register();
    });
    afterEach(() => app.close());

    it('are read by the new one alone once they are sealed anew, both of a source', async () => {
      const both = keys(`${next},${old}`);
      expect(await values().reseal(new SecretBox(both), both.ids[0]!)).toBe(2);
      const after = await on(next);
      try {
        const found = await after.nest.get(SourceDirectory).find('gateway');
        expect(found?.secrets.map(({ value }) => value)).toEqual([SECRETS[1], SECRETS[0]]);
      } finally {
        await after.close();
      }
    });

    it('are discarded with a key that is lost, and the source is disabled until it has a new one', async () => {
      const transactions = app.nest.get(Transactions);
      const counts = await transactions.run((tx) => values().discard(tx, keys(old).ids[0]!));
      expect(counts).toMatchObject({ webhook_sources: 2 });
      const after = await on(next);
      try {
        const admin = await as(after, 'admin');
        const { data } = (await admin.request('GET', '/api/webhooks/gateway')).body;
        expect(data).toMatchObject({ enabled: false });
        expect(data).not.toHaveProperty('previous_secret_until');
        const body = { enabled: true, secret: SECRETS[1] };
        const { status } = await admin.request('PUT', '/api/webhooks/gateway', { body });
        expect(status).toBe(200);
        const found = await after.nest.get(SourceDirectory).find('gateway');
        expect(found?.secrets.map(({ value }) => value)).toEqual([SECRETS[1]]);
      } finally {
        await after.close();
      }
    });
  });
});
