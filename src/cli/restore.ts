import { schema } from '../app.schema.js';
import { loadSettings } from '../platform/config/settings.js';
import { readBackup, restoreBackup } from '../platform/database/backup.js';
import { reachServer } from '../platform/database/reach-server.js';
import { givenSecretKeys, requireKeys } from '../platform/secrets/secret-keys.js';
import { restoreService } from './service-backup.js';
import { readArgument, runCommand, say } from './command.js';

const USAGE = `Usage: npm run restore -- FILE [--force] [--without-key] [--as-it-was] [--quiet]

Puts a backup into an empty database, all of it or nothing. The service may run meanwhile, with the embedded database
too; its requests wait. It must be stopped for a backup that was made with other keys. Where no service runs, this
command starts or creates the embedded database. The release must have the schema of the backup.

  --force        replace everything that the database holds
  --without-key  restore although the key of the backup is lost (see "A lost key" in docs/operations.md)
  --as-it-was    take keys, users and the kill switch from the backup. Without this option, keys that were revoked and
                 users that were disabled or deleted since the backup stay so, and a kill switch that is on stays on
  --quiet        disable the notification channels of the backup, so that a drill notifies nobody`;

const OPTIONS = ['force', 'without-key', 'as-it-was', 'quiet'] as const;

async function main(): Promise<void> {
  const { argument: file, options } = readArgument(USAGE, ...OPTIONS);
  const { force, quiet, 'without-key': withoutKey, 'as-it-was': asItWas } = options;
  const settings = loadSettings();
  const manifest = await readBackup(file);
  if (!withoutKey) requireKeys(manifest.key_ids, givenSecretKeys(settings), file);
  const server = await reachServer(settings, () => undefined, true);
  try {
    const report = await restoreBackup(
      { url: server.ownerUrl, file, manifest, schema, force },
      (tx, restore) =>
        restoreService(tx, restore, settings, manifest, { withoutKey, quiet, asItWas }),
    );
    say(report.trimEnd());
  } finally {
    await server.stop();
  }
}

runCommand(main);
