import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { schema } from '../../src/app.schema.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { startOnLoopback } from './embedded/on-loopback.js';
import { databaseUrl, SERVICE_ROLE, TEMPLATE } from './test-database.js';

declare global {
  var endTestServer: (() => Promise<void>) | undefined;
}

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 6 * 2 ** 30;

/**
 * One PostgreSQL for the whole run, with the schema in a template database that each suite clones. Temporary files of all
 * suites are in one folder, which is deleted at the end.
 */
export async function startTestServer(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'its-tests-'));
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  const dataDir = mkdtempSync(join(isMemoryLarge() ? MEMORY : folder, 'its-postgres-'));
  const server = await startOnLoopback({
    dataDir,
    parameters: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '200',
    },
  });
  globalThis.endTestServer = async () => {
    await server.stop();
    for (const each of [dataDir, folder]) rmSync(each, { recursive: true, force: true });
  };
  process.env['TEST_SERVER_URL'] = server.url;
  const admin = new Client(server.url);
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.query(`create role ${SERVICE_ROLE} login password '${SERVICE_ROLE}'`);
  await admin.end();
  await migrate(databaseUrl(TEMPLATE), schema);
}

function isMemoryLarge(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > NEEDED_BYTES;
}
