import { schema } from '../app.schema.js';
import { loadSettings } from '../platform/config/settings.js';
import { migrate } from '../platform/database/migrate.js';
import { runCommand, say } from './command.js';

const USAGE = `Usage: npm run migrate

Brings the schema of an external database up to date as the role of MIGRATION_DATABASE_URL. docs/service-role.sql grants
the privileges of the role of DATABASE_URL. The embedded database needs no such command.`;

async function main(): Promise<void> {
  const { databaseUrl, migrationDatabaseUrl } = loadSettings();
  if (process.argv.length > 2 || databaseUrl === undefined) throw new Error(USAGE);
  await migrate(migrationDatabaseUrl ?? databaseUrl, schema);
  say('The schema is up to date.');
}

runCommand(main);
