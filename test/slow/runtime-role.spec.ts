import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { schema } from '../../src/app.schema.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import {
  asServiceRole,
  createTestDatabase,
  grantServiceRole,
  type TestDatabase,
} from '../support/test-database.js';

const NOT_ALLOWED = '42501';

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe('a service whose role owns nothing', () => {
  let database: TestDatabase;
  let url: string;

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    url = asServiceRole(database.url);
    await migrate(database.url, schema);
    await grantServiceRole(database.url);
    await grantServiceRole(database.url);
  });
  afterAll(() => database.drop());
  afterEach(() => ServiceProcess.endAll());

  const REFUSED = [
    'alter table audit_log disable trigger user',
    'alter table audit_seals disable trigger all',
    'drop trigger audit_log_is_append_only on audit_log',
    'drop table audit_log',
    'alter table audit_log add column more text',
    `create or replace function refuse_change_of_audit() returns trigger language plpgsql as 'begin return new; end'`,
    `set session_replication_role = 'replica'`,
    `update audit_log set actor = 'mallory'`,
    'delete from audit_log',
    'truncate audit_log',
    `update audit_seals set hash = ''`,
    'delete from audit_seals',
    'truncate audit_seals',
    'delete from audit_chain',
    'truncate audit_chain',
    'truncate incidents cascade',
    'delete from schema_migrations',
    'create table more (id int)',
    'create schema more',
    'alter table users disable trigger all',
    'drop table work',
    'set role incidents',
  ];

  it('cannot change records, the schema or its own privileges', async () => {
    await withClient(url, async (client) => {
      for (const statement of REFUSED) {
        const refusal: unknown = await client.query(statement).catch((error: unknown) => error);
        expect([statement, refusal]).toMatchObject([statement, { code: NOT_ALLOWED }]);
      }
    });
  });

  it('may use every table and sequence that the migrations create', async () => {
    await withClient(url, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select c.oid::regclass::text as name from pg_class c
          where relnamespace = 'public'::regnamespace
            and (relkind in ('r', 'p') and not has_table_privilege(c.oid, 'select')
              or relkind = 'S' and not has_sequence_privilege(c.oid, 'usage'))`,
      );
      expect(rows).toEqual([]);
    });
  });

  /** Sends requests of every kind, which write, enqueue, count, seal, prune, and read the catalogue of the database. */
  async function useService(service: ServiceProcess): Promise<void> {
    const admin = service.client.with({
      authorization: `Bearer ${TEST_KEY}`,
    });
    const ask = async (status: number, method: string, path: string, body?: object) => {
      const answer = await admin.request(method, path, {
        ...(body && { body }),
        ...(method === 'POST' && { headers: { 'idempotency-key': randomUUID() } }),
      });
      expect([path, answer.status]).toEqual([path, status]);
      return answer.body;
    };
    const incident = {
      incident_type: 'phishing',
      severity: 'high',
      source: 'test',
      raw_data: { a: 1 },
    };
    const { id } = (await ask(201, 'POST', '/api/incidents', incident)).data;
    await ask(200, 'PUT', `/api/incidents/${id}`, { severity: 'low' });
    await ask(200, 'GET', '/api/incidents?severity=low');
    await ask(200, 'POST', '/api/kill-switch/activate', { reason: 'a test' });
    await ask(200, 'POST', '/api/kill-switch/deactivate', { reason: 'a test' });
    await ask(200, 'DELETE', `/api/incidents/${id}`);
    const { status, components } = await eventually(
      () => ask(200, 'GET', '/api/health/detailed'),
      ({ components: { jobs, audit } }) => jobs.status === 'healthy' && audit.unsealed === 0,
    );
    const { database: db, audit } = components;
    expect([status, db.status, audit.status]).toEqual(['healthy', 'healthy', 'healthy']);
    expect((await ask(200, 'GET', '/api/audit/verify')).data).toMatchObject({ valid: true });
  }

  const TEST_KEY = `its_abcdefgh_${'k'.repeat(43)}`;
  it('works with the privileges of docs/service-role.sql, and migrates as the owner', async () => {
    const service = await ServiceProcess.start({
      settings: {
        DATABASE_URL: url,
        MIGRATION_DATABASE_URL: database.url,
        BOOTSTRAP_ADMIN_API_KEY: TEST_KEY,
      },
    });
    await useService(service);
    await service.stop();
    const refused = service.lines.filter((line) => /permission denied|must be owner/.test(line));
    expect(refused).toEqual([]);
  });
});
