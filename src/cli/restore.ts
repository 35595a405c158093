import { parseArgs } from 'node:util';
import { schema } from '../app.schema.js';
import { recordAcceptance } from '../audit/accept-head.js';
import { AuditKeys } from '../audit/audit-keys.js';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../common/clock.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { type VerifiedBackup, verifyBackup } from '../database/backup/read-backup.js';
import { restoreBackup } from '../database/backup/restore-backup.js';
import { reachServer } from '../database/open-database.js';
import { Statements } from '../database/statements.js';
import type { Tx } from '../database/transactions.js';
import { CountsRepository } from '../incidents/counting/counts.repository.js';
import { addToKeyFile } from '../secrets/key-file.js';
import { acceptKeysIn } from '../secrets/known-keys.js';
import { givenSecretKeys, keyFileOf } from '../secrets/load-secret-keys.js';
import { WrongKeyError } from '../secrets/secrets.errors.js';
import { LEFT_OUT } from './backup-plan.js';
import { runCommand, say } from './command.js';

const USAGE = `Usage: npm run restore -- FILE [--force] [--without-key]

Puts a backup into an empty database, all of it or nothing. The service is stopped meanwhile; the embedded database is
started, or made, by this command. A backup of an earlier release is brought to this one.

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
  const server = await reachServer(settings, () => undefined);
  try {
    const rebuild = (tx: Tx) => finish(tx, settings, backup, withoutKey);
    const plan = { leftOut: LEFT_OUT, keyIds: async () => [], rebuild };
    await restoreBackup({ url: server.ownerUrl, file, backup, schema, plan, force: values.force });
  } finally {
    await server.stop();
  }
  const counts = Object.values(backup.tables);
  const rows = counts.reduce((sum, table) => sum + table.rows, 0);
  const { created_at } = backup.manifest;
  say(`Restored ${rows} rows of ${counts.length} tables, as they were at ${created_at}.`);
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

/** In the transaction of the restore: what follows from the rows, and the record that they were restored. */
async function finish(
  tx: Tx,
  settings: Settings,
  { manifest }: VerifiedBackup,
  withoutKey: boolean,
): Promise<void> {
  const statements = new Statements(tx.connection);
  await new CountsRepository(statements).recount(tx);
  if (withoutKey) return;
  const keys = new AuditKeys(await acceptKeysIn(tx, settings));
  const log = new AuditLog(statements, keys, new Clock());
  await log.record(tx, {
    actor: 'system',
    action: 'database.restored',
    subject: { type: 'database', id: manifest.created_at },
    details: { backup_of: manifest.created_at, backup_by: manifest.version },
  });
  // The trail ends earlier now than the service has seen it end.
  await recordAcceptance(tx, log, `restored the backup of ${manifest.created_at}`);
}

runCommand(main);
