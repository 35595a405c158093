import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadSettings } from '../platform/config/load-settings.js';
import type { Settings } from '../platform/config/settings.js';
import { writeBackup } from '../platform/database/backup/write-backup.js';
import { reachServer } from '../platform/database/open-database.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import { serviceBackupPlan } from './service-backup.js';
import { runCommand, say } from './command.js';

const USAGE = `Usage: npm run backup -- FILE [--with-key] [--without-key] [--force]

Writes the current database to one file. The service may be running, also with the embedded database. Only the owner can
read the file. It does not contain the key: keep SECRETS_KEY (DATA_DIR/secrets.key) separately.

  --with-key     include the key; whoever has the file then has everything
  --without-key  make the backup although the key is missing or lost
  --force        replace an existing file`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'with-key': { type: 'boolean', default: false },
      'without-key': { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
    },
  });
  const [file] = positionals;
  const { 'with-key': withKey, 'without-key': withoutKey, force } = values;
  if (file === undefined || positionals.length > 1 || (withKey && withoutKey))
    throw new Error(USAGE);

  const settings = loadSettings();
  await refuseNoDatabase(settings);
  const server = await reachServer(settings, () => undefined, { join: true });
  try {
    const keys = withKey ? givenSecretKeys(settings)?.asSetting() : undefined;
    const plan = serviceBackupPlan(settings, withoutKey);
    const { manifest, tables } = await writeBackup({
      url: server.ownerUrl,
      file,
      plan,
      force,
      keys,
    });
    const counts = Object.values(tables);
    const rows = counts.reduce((sum, count) => sum + count, 0);
    say(
      `${file}: ${rows} rows of ${counts.length} tables, ${statSync(file).size} bytes, mode 0600.`,
    );
    const named = manifest.key_ids.join(' and ');
    say(
      keys !== undefined
        ? `THE KEY IS IN THE FILE (${named}): whoever can read it can read every stored secret.`
        : `The key (${named}) is not in it. Keep it separately: stored secrets cannot be read without it.`,
    );
  } finally {
    await server.stop();
  }
}

/** Opening a missing embedded database would create it, and the backup would be empty. */
async function refuseNoDatabase({ databaseUrl, dataDir }: Settings): Promise<void> {
  if (databaseUrl !== undefined) return;
  const { hasCluster } = await import('../platform/database/embedded/embedded-postgres.js');
  if (hasCluster(dataDir)) return;
  throw new Error(
    `There is no database in ${dataDir}. Set DATA_DIR or DATABASE_URL as for the service.`,
  );
}

runCommand(main);
