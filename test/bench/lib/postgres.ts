import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { atEnd, temporaryFolder } from './cleanup.ts';

export interface Server {
  readonly version: string;
  /** Makes an empty database and answers its address. It is dropped when the run ends. */
  createDatabase(name: string): Promise<string>;
}

interface Embedded {
  readonly url: string;
  stop(): Promise<void>;
}

/** A PostgreSQL that writes to its disk as in production: BENCH_DATABASE_URL, or an embedded one. */
export async function startPostgres(dist: string): Promise<Server> {
  return await serverAt(process.env['BENCH_DATABASE_URL'] || (await startEmbedded(dist)));
}

async function startEmbedded(dist: string): Promise<string> {
  const path = join(dist, 'platform/database/embedded/embedded-postgres.js');
  const { startEmbeddedPostgres } = (await import(pathToFileURL(path).href)) as {
    startEmbeddedPostgres(options: { dataDir: string }): Promise<Embedded>;
  };
  const folder = temporaryFolder();
  atEnd(async () => folder.remove());
  const embedded = await startEmbeddedPostgres({ dataDir: folder.path });
  atEnd(() => embedded.stop());
  return embedded.url;
}

async function serverAt(url: string): Promise<Server> {
  const [row] = await run<{ version: string }>(url, 'select version()');
  return {
    version: row!.version,
    createDatabase: async (name) => {
      const drop = () => dropDatabase(url, name);
      await drop();
      await run(url, `create database ${name}`);
      atEnd(drop);
      const address = new URL(url);
      address.pathname = `/${name}`;
      return address.toString();
    },
  };
}

/** PostgreSQL refuses while autovacuum is at work in it, which a role that is no superuser may not end. */
async function dropDatabase(url: string, name: string): Promise<void> {
  for (let triesLeft = 30; ; triesLeft -= 1) {
    try {
      await run(url, `drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if (triesLeft === 0) throw error;
      await sleep(500);
    }
  }
}

export async function run<R extends pg.QueryResultRow = pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text, values)).rows;
  } finally {
    await client.end();
  }
}
