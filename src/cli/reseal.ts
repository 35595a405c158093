import type { OpenDatabase } from '../app.database.js';
import { sealedColumns } from '../app.schema.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { resealTrail } from '../audit/chain/audit-trail.js';
import { logOfCommand } from '../audit/audit-log.js';
import { loadSettings } from '../platform/config/settings.js';
import { TIME_LIMITS } from '../platform/database/connection.js';
import { Transactions } from '../platform/database/transactions.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { neededKeys, resealAll, retireKeys } from '../platform/secrets/secret-keys.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run reseal

Encrypts every stored secret, and the older keys of the audit trail, with the first key of SECRETS_KEY. First put the new
key in the first place and restart every replica. Afterwards the older keys can be removed from SECRETS_KEY. The service
may be running, and an interrupted command can be repeated.`;

async function main(): Promise<void> {
  if (process.argv.length > 2) throw new Error(USAGE);
  const settings = loadSettings();
  const limits = { ...TIME_LIMITS, statementMs: 3_600_000 };
  const reseal = async ({ dataSource, keys }: OpenDatabase): Promise<void> => {
    const first = keys.ids[0]!;
    const transactions = new Transactions(dataSource);
    const needed = await transactions.run(neededKeys);
    const older = needed.filter((id) => id !== first);
    const secrets = await resealAll(dataSource, sealedColumns, new SecretBox(keys), first);
    say(`${secrets} secrets are now encrypted with the key ${first}.`);
    const auditKeys = new AuditKeys(keys);
    const entries = await resealTrail(dataSource, auditKeys, settings);
    say(`${entries} entries of the audit trail are verified, and need only the key ${first}.`);
    if (older.length === 0) return say('No older key is needed.');

    await transactions.run(async (tx) => {
      await retireKeys(tx, older);
      await logOfCommand(dataSource, auditKeys).record(tx, {
        actor: 'system',
        action: 'secrets.resealed',
        subject: { type: 'secret_key', id: first },
        details: { retired: older, secrets, entries },
      });
    });
    for (const id of older) say(`${id} is no longer needed: remove it from SECRETS_KEY.`);
  };
  await withDatabase(settings, reseal, limits);
}

runCommand(main);
