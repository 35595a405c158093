import { parseArgs } from 'node:util';
import { schema } from '../app.schema.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { type VerifiedBackup, verifyBackup } from '../database/backup/read-backup.js';
import { restoreBackup } from '../database/backup/restore-backup.js';
import { reachServer } from '../database/open-database.js';
import { addToKeyFile } from '../secrets/key-file.js';
import { givenSecretKeys, keyFileOf } from '../secrets/load-secret-keys.js';
import { WrongKeyError } from '../secrets/secrets.errors.js';
import { runCommand, say } from './command.js';
import { RestoreOfService } from './restore-plan.js';

const USAGE = `Usage: npm run restore -- FILE [--force] [--without-key]

Puts a backup into an empty database, all of it or nothing. The service may run meanwhile, with the embedded database
too; its requests wait. It has to be stopped for a backup of an earlier release, which is brought to this one, and for
one that was made with other keys. Where no service runs, the embedded database is started, or made, by this command.

  --force        replace everything that the database holds
  --without-key  restore although the key of the backup is lost: see "A lost key" in docs/operations.md`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      force: { type: 'boolean', default: false },
      'without-key': { type: 'boolean', default: false },
    },
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new Error(USAGE);
  const withoutKey = values['without-key'];

  const settings = loadSettings();
  const backup = await verifyBackup(file);
  if (!withoutKey) takeKeys(settings, backup);
  const server = await reachServer(settings, () => undefined, { join: true });
  const plan = new RestoreOfService(settings, backup, withoutKey);
  try {
    const { ownerUrl: url } = server;
    await restoreBackup({ url, file, backup, schema, plan, force: values.force });
  } finally {
    await server.stop();
  }
  const counts = Object.values(backup.tables);
  const rows = counts.reduce((sum, table) => sum + table.rows, 0);
  const { created_at } = backup.manifest;
  say(`Restored ${rows} rows of ${counts.length} tables, as they were at ${created_at}.`);
  plan.told().forEach(say);
  say(
    'Whoever was logged in logs in again. What was revoked since then is valid again: revoke it anew.',
  );
}

/** Before anything is changed: what was restored without its key nobody could use. */
function takeKeys(settings: Settings, { manifest, keys }: VerifiedBackup): void {
  const inFile = settings.secretsKey.length === 0 && settings.databaseUrl === undefined;
  if (keys !== undefined && inFile) {
    addToKeyFile(keyFileOf(settings), keys);
    say(`The key of the backup is now in ${keyFileOf(settings)}.`);
  }
  const given = givenSecretKeys(settings)?.ids ?? [];
  const missing = manifest.key_ids.filter((id) => !given.includes(id));
  if (missing.length === 0) return;
  throw new WrongKeyError(inFile ? keyFileOf(settings) : 'SECRETS_KEY', missing, given);
}

runCommand(main);
