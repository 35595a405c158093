import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { schema } from '../../src/app.schema.js';
import type { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { startOnLoopback } from './embedded/on-loopback.js';
import { databaseUrl, TEMPLATE } from './test-database.js';

declare global {
  var testServer: EmbeddedPostgres | undefined;
}

/** One PostgreSQL for the whole run, with the schema in a template database that each suite clones. */
export async function startTestServer(): Promise<void> {
  const server = await startOnLoopback({
    dataDir: mkdtempSync(join(tmpdir(), 'its-test-')),
    parameters: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '200',
    },
  });
  globalThis.testServer = server;
  process.env['TEST_SERVER_URL'] = server.url;
  process.env['TEST_SERVICE_URL'] = server.serviceUrl;
  const admin = new Client(server.url);
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await migrate(databaseUrl(TEMPLATE), schema);
}
