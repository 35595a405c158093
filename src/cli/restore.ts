import { parseArgs } from 'node:util';
import { schema } from '../app.schema.js';
import { loadSettings } from '../platform/config/load-settings.js';
import type { Settings } from '../platform/config/settings.js';
import { readSecretKey } from '../platform/config/setting.js';
import { BackupError } from '../platform/database/backup/backup-format.js';
import { type VerifiedBackup, verifyBackup } from '../platform/database/backup/read-backup.js';
import { restoreBackup } from '../platform/database/backup/restore-backup.js';
import { reachServer } from '../platform/database/open-database.js';
import { createKeyFile, givenSecretKeys, keyFileOf } from '../platform/secrets/load-secret-keys.js';
import { SecretKeys } from '../platform/secrets/secret-box.js';
import { WrongKeyError } from '../platform/secrets/secrets.errors.js';
import { ServiceRestorePlan } from './service-backup.js';
import { runCommand, say } from './command.js';

const USAGE = `Usage: npm run restore -- FILE [--force] [--without-key] [--quiet]

Puts a backup into an empty database, all of it or nothing. The service may run meanwhile, with the embedded database
too; its requests wait. It must be stopped for a backup that was made with other keys. Where no service runs, this
command starts or creates the embedded database. The release must have the schema of the backup.

  --force        replace everything that the database holds
  --without-key  restore although the key of the backup is lost (see "A lost key" in docs/operations.md)
  --as-it-was    take keys, users and the kill switch from the backup. Without this option, keys that were revoked and
                 users that were disabled or deleted since the backup stay so, and a kill switch that is on stays on
  --quiet        disable the notification channels of the backup, so that a drill notifies nobody`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      force: { type: 'boolean', default: false },
      'without-key': { type: 'boolean', default: false },
      'as-it-was': { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
    },
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new Error(USAGE);
  const withoutKey = values['without-key'];

  const settings = loadSettings();
  const backup = await verifyBackup(file);
  if (!withoutKey) requireKeys(settings, backup, file);
  const server = await reachServer(settings, () => undefined, { join: true });
  const plan = new ServiceRestorePlan(
    settings,
    backup,
    withoutKey,
    values.quiet,
    values['as-it-was'],
  );
  try {
    const { ownerUrl: url } = server;
    await restoreBackup({ url, file, backup, schema, plan, force: values.force });
  } finally {
    await server.stop();
  }
  const counts = Object.values(backup.end.tables);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const { created_at } = backup.manifest;
  say(`Restored ${rows} rows of ${counts.length} tables, as they were at ${created_at}.`);
  plan.summary().forEach(say);
  say('All users must log in again.');
}

/** Checked before any change: without its key the backup is useless. */
function requireKeys(settings: Settings, backup: VerifiedBackup, file: string): void {
  const { manifest, keys: written } = backup;
  const inFile = settings.secretsKey.length === 0 && settings.databaseUrl === undefined;
  const own = givenSecretKeys(settings);
  const brought = inFile && written !== undefined ? readKeys(written) : undefined;
  const missing = missingFrom(own, manifest.key_ids);
  if (own && brought && missing.length > 0) {
    throw new BackupError(
      `The backup contains its own key, but ${keyFileOf(settings)} holds another. Nothing was changed. Move ${keyFileOf(settings)} away to use the key of the backup.`,
    );
  }
  const keys = own ?? brought;
  const needed = missingFrom(keys, manifest.key_ids);
  if (!keys || needed.length > 0) {
    const where = inFile ? keyFileOf(settings) : 'SECRETS_KEY';
    throw new WrongKeyError(where, needed, keys?.ids ?? [], file);
  }
  if (own || written === undefined) return;
  createKeyFile(keyFileOf(settings), written);
  say(`The key of the backup is now in ${keyFileOf(settings)}.`);
}

function readKeys(written: string): SecretKeys {
  return new SecretKeys(written.split(',').map(readSecretKey));
}

function missingFrom(keys: SecretKeys | undefined, needed: readonly string[]): string[] {
  return needed.filter((id) => !keys?.ids.includes(id));
}

runCommand(main);
