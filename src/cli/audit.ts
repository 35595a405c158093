import { schema } from '../app.schema.js';
import { acceptHead } from '../audit/accept-head.js';
import { AuditKeys } from '../audit/audit-keys.js';
import { loadSettings } from '../config/load-settings.js';
import { openDatabase } from '../database/open-database.js';
import { loadSecretKeys } from '../secrets/load-secret-keys.js';

const USAGE = `Usage: npm run audit -- accept-head "<why>"

Accepts the audit trail as it is in the database, after the restore of a backup: until then the service says that the
trail was put back to an earlier state. That it was accepted, and why, becomes an entry of the trail. With an external
database the service may run meanwhile; the embedded one it would have to share, so stop it first.`;

async function main(): Promise<void> {
  const [command, reason, ...rest] = process.argv.slice(2);
  if (command !== 'accept-head' || !reason?.trim() || rest.length > 0) throw new Error(USAGE);
  const settings = loadSettings();
  const keys = new AuditKeys(loadSecretKeys(settings));
  const database = await openDatabase(settings, schema, () => undefined);
  try {
    await acceptHead(database.dataSource, keys, reason);
  } finally {
    await database.close();
  }
  process.stdout.write('The audit trail as it is was accepted.\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
