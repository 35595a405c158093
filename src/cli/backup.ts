import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { schema } from '../app.schema.js';
import { loadSettings } from '../platform/config/settings.js';
import { writeBackup } from '../platform/database/backup.js';
import { reachServer } from '../platform/database/reach-server.js';
import { givenSecretKeys, neededKeys, requireKeys } from '../platform/secrets/secret-keys.js';
import { readArgument, runCommand, say } from './command.js';

const USAGE = `Usage: npm run backup -- FILE [--without-key] [--force]

Writes the current database to one file. The service may be running, also with the embedded database. Only the owner can
read the file. It does not contain the key: keep SECRETS_KEY (DATA_DIR/secrets.key) separately.

  --without-key  make the backup although the key is missing or lost
  --force        replace an existing file`;

async function main(): Promise<void> {
  const { argument: file, options } = readArgument(USAGE, 'without-key', 'force');
  const settings = loadSettings();
  const { databaseUrl, dataDir } = settings;
  // If the embedded database is missing, opening it would create an empty database, which would then be backed up.
  if (databaseUrl === undefined && !existsSync(join(dataDir, 'postgres'))) {
    throw new Error(
      `There is no database in ${dataDir}. Set DATA_DIR or DATABASE_URL to the value that the service uses.`,
    );
  }
  const server = await reachServer(settings, () => undefined, true);
  try {
    const { manifest, rows } = await writeBackup({
      url: server.ownerUrl,
      schema,
      file,
      // A restored backup must not make ended sessions valid again.
      excludedTables: ['sessions'],
      keyIds: async (manager) => {
        const needed = await neededKeys(manager);
        if (!options['without-key']) requireKeys(needed, givenSecretKeys(settings));
        return needed;
      },
      force: options.force,
    });
    say(
      `${file}: ${rows} rows of ${manifest.tables.length} tables, ${statSync(file).size} bytes, mode 0600.`,
    );
    say(
      `The key (${manifest.key_ids.join(' and ')}) is not in it. Keep it separately: stored secrets cannot be read without it.`,
    );
  } finally {
    await server.stop();
  }
}

runCommand(main);
