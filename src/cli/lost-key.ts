import { createSecretKey, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { DataSource } from 'typeorm';
import { schema, sealedColumns } from '../app.schema.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { AuditResealing } from '../audit/verification/audit-resealing.js';
import { logOfCommand } from '../audit/audit-log.js';
import { loadSettings } from '../platform/config/load-settings.js';
import type { Settings } from '../platform/config/settings.js';
import { openDatabase } from '../platform/database/open-database.js';
import { Transactions } from '../platform/database/transactions.js';
import {
  waitUntilUnused,
  acceptKeys,
  type KnownKey,
  requireKeysOf,
} from '../platform/secrets/known-keys.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import { SealedValues } from '../platform/secrets/sealed-values.js';
import { SecretKeys } from '../platform/secrets/secret-box.js';
import { SecretKeysRepository } from '../platform/secrets/secret-keys.repository.js';
import { withLongStatements, runCommand, say } from './command.js';

const USAGE = `Usage: npm run lost-key -- KEY_ID --discard

Goes on without a key that nobody has any more; KEY_ID is what the refused start names. It cannot be taken back:

  - stored secrets that it encrypted are gone: their connectors, webhook sources and notification channels are disabled
    until each is given new secrets and "enabled": true, both
  - entries of the audit trail that it vouched for are taken as they are now: GET /api/audit/verify counts them as
    taken_over, because nobody can tell what happened to them before, and finds what happens to them from now on

SECRETS_KEY holds the other keys, or a new one; with the embedded database a new one is made. Make a backup first
(npm run backup -- FILE --without-key), and look for the key once more.`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { discard: { type: 'boolean', default: false } },
  });
  const [lost] = positionals;
  if (lost === undefined || positionals.length > 1 || !values.discard) throw new Error(USAGE);

  const settings = withLongStatements(loadSettings());
  const database = await openDatabase(settings, schema, () => undefined, undefined, { join: true });
  try {
    const { dataSource } = database;
    const transactions = new Transactions(dataSource);
    const repository = new SecretKeysRepository(dataSource);
    const known = await repository.list();
    if (!known.some(({ id, retired_at }) => id === lost && !retired_at)) {
      throw new Error(`This database needs no key ${lost}.`);
    }
    const given = givenSecretKeys(settings);
    if (given?.ids.includes(lost)) {
      throw new Error(
        `The key ${lost} is not lost: SECRETS_KEY has it. To replace it, run npm run reseal.`,
      );
    }
    await waitUntilUnused(repository, [lost], say);
    const gone = [lost, ...retiredAndNotAtHand(known, given)];
    await requireNoRefusal(dataSource, { known, settings, given, gone });
    const keys = await transactions.run((tx) => acceptKeys(tx, settings, lost));
    const auditKeys = new AuditKeys(keys);
    const { takenOver } = await new AuditResealing(dataSource, auditKeys, gone).run();
    const discarded = await transactions.run(async (tx) => {
      const counts = await new SealedValues(dataSource, sealedColumns).discard(tx, lost);
      await repository.retire(tx, [lost]);
      await logOfCommand(dataSource, auditKeys).record(tx, {
        actor: 'system',
        action: 'secrets.key_lost',
        subject: { type: 'secret_key', id: lost },
        details: { key_in_use: keys.ids[0], discarded: counts, entries_taken_over: takenOver },
      });
      return counts;
    });
    const secrets = Object.entries(discarded).map(([table, count]) => `${count} of ${table}`);
    say(`The key ${lost} is given up. Secrets that are gone: ${secrets.join(', ')}.`);
    if (discarded['webhook_sources']) {
      say(
        'Webhook sources are disabled and answer 404. Give each a new secret and enable it: PUT /api/webhooks/NAME {"secret": "...", "enabled": true}.',
      );
    }
    if (discarded['notification_channels']) {
      say(
        'Notification channels are disabled and deliver nothing. Give each its secrets and enable it: PUT /api/notification-channels/ID {"config": {...}, "enabled": true}.',
      );
    }
    say(
      `${takenOver} entries of the audit trail are accepted as they are. The key in use is ${keys.ids[0]}.`,
    );
  } finally {
    await database.close();
  }
}

/** Retired keys that are missing: only the lost key attested their seals. */
function retiredAndNotAtHand(known: readonly KnownKey[], given: SecretKeys | undefined): string[] {
  const isGone = ({ id, retired_at }: KnownKey) => retired_at !== null && !given?.ids.includes(id);
  return known.filter(isGone).map(({ id }) => id);
}

interface Plan {
  readonly known: readonly KnownKey[];
  readonly settings: Settings;
  readonly given: SecretKeys | undefined;
  /** Starts with the lost key. */
  readonly gone: readonly string[];
}

/** Fails early, so that a new key is not stored as the first key of the database before a refusal. */
async function requireNoRefusal(dataSource: DataSource, plan: Plan): Promise<void> {
  const { known, settings, given, gone } = plan;
  const others = known.filter(({ id }) => id !== gone[0]);
  requireKeysOf(others, settings, given);
  // A new key has sealed nothing yet, so any key can stand for it.
  const keys = given ?? new SecretKeys([createSecretKey(randomBytes(32))]);
  await new AuditResealing(dataSource, new AuditKeys(keys), gone).check();
}

runCommand(main);
