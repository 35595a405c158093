import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

export interface Server {
  /** Makes an empty database and answers its address. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

interface Embedded {
  readonly url: string;
  stop(): Promise<void>;
}

/** A PostgreSQL that writes to its disk as in production: BENCH_DATABASE_URL, or an embedded one. */
export async function startPostgres(dist: string): Promise<Server> {
  const given = process.env['BENCH_DATABASE_URL'];
  if (given) return serverAt(given, async () => undefined);
  const dataDir = mkdtempSync(join(tmpdir(), 'its-bench-'));
  const path = join(dist, 'database/embedded/embedded-postgres.js');
  const { startEmbeddedPostgres } = (await import(pathToFileURL(path).href)) as {
    startEmbeddedPostgres(options: { dataDir: string }): Promise<Embedded>;
  };
  const embedded = await startEmbeddedPostgres({ dataDir });
  return serverAt(embedded.url, async () => {
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
}

function serverAt(url: string, stop: () => Promise<void>): Server {
  return {
    stop,
    createDatabase: async (name) => {
      await run(url, `drop database if exists ${name} with (force)`);
      await run(url, `create database ${name}`);
      const address = new URL(url);
      address.pathname = `/${name}`;
      return address.toString();
    },
  };
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
