import type { ClientBase } from 'pg';
import type { Settings } from '../platform/config/settings.js';
import type { BackupPlan } from '../platform/database/backup/backup-plan.js';
import type { KeyRing } from '../platform/secrets/key-ring.js';
import { KNOWN, type KnownKey, refuseOthers } from '../platform/secrets/known-keys.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import type { SecretKeys } from '../platform/secrets/secret-keys.js';

/** Counts follow from the incidents; a session that has ended must not come to life again. */
export const LEFT_OUT = [
  'incident_count_deltas',
  'incident_counts',
  'incident_segments',
  'incident_count_state',
  'sessions',
] as const;

export function planOfBackup(settings: Settings, withoutKey: boolean): BackupPlan {
  const given = withoutKey ? undefined : givenSecretKeys(settings);
  return {
    leftOut: LEFT_OUT,
    keyIds: async (client) => {
      const known = await knownKeys(client);
      if (!withoutKey) refuseOthers(settings, known, given);
      return known.filter(({ retired }) => !retired).map(({ id }) => id);
    },
    signerOf: (keyIds) => {
      const id = given?.ids.find((one) => keyIds.includes(one)) ?? given?.ids[0];
      return given && id ? backupKeys(given).find(id) : undefined;
    },
  };
}

/** The keys that sign backups, of a purpose of their own. */
export function backupKeys(keys: SecretKeys): KeyRing {
  return keys.derive('backup');
}

/** None where the database is of an earlier release, which did not keep them. */
async function knownKeys(client: ClientBase): Promise<KnownKey[]> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('secret_keys') is not null as there`,
  );
  return rows[0]?.there ? (await client.query<KnownKey>(KNOWN)).rows : [];
}
