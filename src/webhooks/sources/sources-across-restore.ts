// SQL: temporary tables, and statements that compare with them.
import type { Tx } from '../../platform/database/transactions.js';
import { SecretBox, type SecretKeys } from '../../platform/secrets/secret-box.js';
import { SealedSecrets, type StoredSecrets } from './sealed-secrets.js';
import type { SignatureScheme } from './webhook-source.entity.js';

/** Webhook sources that the backup would have given back, and that a restore leaves as they were before the restore. */
export interface SourcesAcrossRestore {
  readonly deleted: number;
  readonly disabled: number;
  readonly secretsChanged: number;
  /** Disabled without a secret, because the keys at hand do not open the secret that was in use. */
  readonly withoutSecret: readonly string[];
}

interface Verification extends StoredSecrets {
  readonly source: string;
  readonly signature: SignatureScheme;
}

/** A source of the same name that another site made is another source: its secret is not a rotated one. */
const SAME_SOURCE = `(before.created_at = source.created_at
  or exists (select from pg_temp.sources_deleted_before_restore gone
              where gone.source = source.source and gone.at >= source.created_at))`;

/** Keeps how each source verifies its events, and which sources were deleted. Called before the content is replaced. */
export async function noteSourcesBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table sources_before_restore on commit drop as
       select source, enabled, signature, secret, previous_secret, previous_secret_until, version, created_at, updated_at
         from webhook_sources`,
  );
  // A deleted source leaves no row. Without its record, a source of another site would count as deleted.
  await tx.query(
    `create temporary table sources_deleted_before_restore on commit drop as
       select subject_id as source, max(at) as at from audit_log
        where action = 'webhook_source.deleted' group by subject_id`,
  );
}

/**
 * Deletes and disables again the sources that had been deleted or disabled before the restore, and keeps rotated secrets.
 * Called after the content was replaced. Of two secrets the one of the later row counts.
 *
 * @param keys the keys at hand, undefined in a restore without keys
 */
export async function carrySourcesOverRestore(
  tx: Tx,
  keys: SecretKeys | undefined,
): Promise<SourcesAcrossRestore> {
  const [, deleted] = await tx.query<[unknown, number]>(
    `delete from webhook_sources source using pg_temp.sources_deleted_before_restore before
      where before.source = source.source and before.at >= source.created_at
        and not exists (select from pg_temp.sources_before_restore still where still.source = source.source)`,
  );
  const rotated = await tx.query<Verification[]>(
    `select before.source, before.signature, before.secret, before.previous_secret, before.previous_secret_until
       from webhook_sources source join pg_temp.sources_before_restore before using (source)
      where (before.secret, before.previous_secret) is distinct from (source.secret, source.previous_secret)
        and before.updated_at >= source.updated_at and ${SAME_SOURCE}
      order by source`,
  );
  const secrets = keys && new SealedSecrets(new SecretBox(keys));
  const withoutSecret: string[] = [];
  for (const row of rotated) {
    const kept = secrets?.reseal(row);
    if (!kept?.secret) withoutSecret.push(row.source);
    await tx.query(
      `update webhook_sources set signature = $2, secret = $3, previous_secret = $4, previous_secret_until = $5,
              enabled = enabled and $3::text is not null
        where source = $1`,
      [
        row.source,
        row.signature,
        kept?.secret ?? null,
        kept?.previous_secret ?? null,
        kept?.previous_secret_until ?? null,
      ],
    );
  }
  const [, disabled] = await tx.query<[unknown, number]>(
    `update webhook_sources source set enabled = false
       from pg_temp.sources_before_restore before
      where before.source = source.source and not before.enabled and source.enabled and ${SAME_SOURCE}`,
  );
  await tx.query(
    `update webhook_sources source
        set version = greatest(source.version, before.version) + 1, updated_at = greatest(source.updated_at, before.updated_at)
       from pg_temp.sources_before_restore before
      where before.source = source.source and before.version <> source.version`,
  );
  return {
    deleted,
    disabled,
    secretsChanged: rotated.length - withoutSecret.length,
    withoutSecret,
  };
}
