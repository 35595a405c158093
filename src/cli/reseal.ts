import { sealedColumns } from '../app.schema.js';
import { anchorFileOf, signAnchorAnew } from '../audit/anchor/anchor-file.js';
import { AuditKeys } from '../audit/chain/audit-keys.js';
import { AuditResealing } from '../audit/verification/audit-resealing.js';
import { logOfCommand } from '../audit/audit-log.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { Transactions } from '../platform/database/transactions.js';
import { waitUntilUnused } from '../platform/secrets/key-heartbeat.js';
import { SealedValues } from '../platform/secrets/sealed-values.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { SecretKeysRepository } from '../platform/secrets/secret-keys.repository.js';
import { withLongStatements, runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run reseal

After a new key was put in front: encrypts every stored secret with it, and makes it vouch for the audit trail, which is
verified first. Then the older keys may go. The service may run meanwhile; run it again when it was interrupted.`;

async function main(): Promise<void> {
  if (process.argv.length > 2) throw new Error(USAGE);
  const settings = withLongStatements(loadSettings());
  await withDatabase(settings, async ({ database: { dataSource }, keys }) => {
    const first = keys.ids[0]!;
    const repository = new SecretKeysRepository(dataSource);
    const older = await repository.listIdsBeside(first);
    await waitUntilUnused(repository, older, say);
    const values = new SealedValues(dataSource, sealedColumns);
    const secrets = await values.reseal(new SecretBox(keys), first);
    say(`${secrets} secrets are under the key ${first} now.`);
    const auditKeys = new AuditKeys(keys);
    const { attested } = await new AuditResealing(dataSource, auditKeys).run();
    say(
      `${attested} entries of the audit trail of older keys are vouched for by the key ${first}.`,
    );
    if (older.length === 0) return say('No older key is needed.');

    await signAnchorAnew(anchorFileOf(settings), auditKeys);
    await new Transactions(dataSource).run(async (tx) => {
      await repository.retire(tx, older);
      await logOfCommand(dataSource, auditKeys).record(tx, {
        actor: 'system',
        action: 'secrets.resealed',
        subject: { type: 'secret_key', id: first },
        details: { retired: older, secrets, entries: attested },
      });
    });
    say(
      `Nothing needs ${older.join(' and ')} any more: take ${older.length > 1 ? 'them' : 'it'} out of SECRETS_KEY.`,
    );
  });
}

runCommand(main);
