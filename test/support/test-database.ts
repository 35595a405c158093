import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

export const TEMPLATE = 'template_of_tests';

export function databaseUrl(name: string): string {
  const server = process.env['TEST_SERVER_URL'];
  if (!server) throw new Error('The global setup starts the test server; run through jest.');
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}

/** Name and password of a role that owns nothing. */
export const SERVICE_ROLE = 'incidents_service';

/** Returns the URL of the same database for a role that owns nothing. */
export function asServiceRole(url: string): string {
  return Object.assign(new URL(url), { username: SERVICE_ROLE, password: SERVICE_ROLE }).toString();
}

/** Grants the privileges to the role of the service, as an operator does. */
export async function grantServiceRole(url: string): Promise<void> {
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query(readFileSync(join(__dirname, '../../docs/service-role.sql'), 'utf8'));
  await owner.end();
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates a database for a suite: a clone of the migrated template, which takes some tens of milliseconds. */
export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Only one session at a time can clone a template, so suites take turns.
  await asAdmin(async (admin) => {
    await admin.query('select pg_advisory_lock(1)');
    await admin.query(`create database ${name} template ${options.empty ? 'template0' : TEMPLATE}`);
  });
  return {
    url: databaseUrl(name),
    drop: () => asAdmin((admin) => drop(admin, name)),
  };
}

const NOT_ALLOWED = '42501';

/**
 * Drops the database. Retries while autovacuum uses it, because only the superuser may end the processes of autovacuum.
 */
async function drop(admin: Client, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await admin.query(`drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if (attempt === 20 || (error as { code?: string }).code !== NOT_ALLOWED) throw error;
      await sleep(250);
    }
  }
}

async function asAdmin(work: (admin: Client) => Promise<void>): Promise<void> {
  const admin = new Client(process.env['TEST_SERVER_URL']);
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
