import { schema } from '../app.schema.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { migrateFor } from '../platform/database/open-database.js';
import { runCommand, say } from './command.js';

const USAGE = `Usage: npm run migrate

Brings the schema of an external database up to date as the role of MIGRATION_DATABASE_URL, and grants the role of
DATABASE_URL what the service needs. The service can then run without MIGRATION_DATABASE_URL. The embedded database needs
no such command.`;

async function main(): Promise<void> {
  const { databaseUrl, migrationDatabaseUrl } = loadSettings();
  if (process.argv.length > 2 || databaseUrl === undefined) throw new Error(USAGE);
  await migrateFor({ url: databaseUrl, ownerUrl: migrationDatabaseUrl ?? databaseUrl }, schema);
  say('The schema is up to date.');
}

runCommand(main);
