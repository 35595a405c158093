import { randomInt } from 'node:crypto';
import { Client } from 'pg';
import { commandConnection } from './connection.js';
import { UnsupportedDatabaseError } from './schema-checks.js';
import { sqlStateOf } from './sqlstate.js';

/** The addresses of the database for its two roles; they are equal when there is only one role. */
export interface Roles {
  /** The role that owns the tables and migrates them. */
  readonly ownerUrl: string;
  /** The role that the service runs as. */
  readonly url: string;
}

/** The SQLSTATE of a refused login. Whoever uses the connection later reports what is wrong with it. */
const NOT_LET_IN = /^28/;

/**
 * Refuses two addresses that lead to two databases. That cannot be seen from the addresses: different ones may lead to the
 * same database. So one session takes a random advisory lock, which needs no rights, and the other session finds it taken
 * only if both are in the same database of the same server.
 */
export async function requireSameDatabase({ ownerUrl, url }: Roles): Promise<void> {
  if (ownerUrl === url) return;
  const owner = new Client(commandConnection(ownerUrl));
  const service = new Client(commandConnection(url));
  // When a connection breaks, the query that waits for it is rejected; the event itself tells nothing more.
  for (const client of [owner, service]) client.on('error', () => undefined);
  const lock = [randomInt(2 ** 31), randomInt(2 ** 31)];
  try {
    await owner.connect();
    if (!(await isLetIn(service))) return;
    await owner.query('select pg_advisory_lock($1, $2)', lock);
    const { rows } = await service.query<{ free: boolean }>(
      'select pg_try_advisory_lock($1, $2) as free',
      lock,
    );
    if (!rows[0]?.free) return;
  } finally {
    await Promise.all([owner.end(), service.end()]);
  }
  throw new UnsupportedDatabaseError(
    `MIGRATION_DATABASE_URL leads to ${placeOf(ownerUrl)} and DATABASE_URL to ${placeOf(url)}, which is another database: let both name the same one.`,
  );
}

async function isLetIn(client: Client): Promise<boolean> {
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (NOT_LET_IN.test(String(sqlStateOf(error)))) return false;
    throw error;
  }
}

/** The address without the role and its password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
