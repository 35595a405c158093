import { createSecretKey, randomBytes } from 'node:crypto';
import { newId } from '../../src/platform/ids.js';
import { SecretBox, SecretKeys } from '../../src/platform/secrets/secret-box.js';
import { SealedSecrets } from '../../src/webhooks/sources/sealed-secrets.js';
import {
  carrySourcesOverRestore,
  noteSourcesBeforeRestore,
  type SourcesAcrossRestore,
} from '../../src/webhooks/sources/sources-across-restore.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('webhook sources across a restore', () => {
  const { query, transactions } = useTestDatabase();
  const keys = new SecretKeys([createSecretKey(randomBytes(32))]);
  const secrets = new SealedSecrets(new SecretBox(keys));

  const sealed = (source: string, secret: string, with_ = secrets) =>
    with_.ofNewSource(source, secret).secret!;
  const add = async (source: string, createdAt = '2026-01-01'): Promise<void> => {
    await query(
      `insert into webhook_sources (source, enabled, format, signature, severity_mapping, auto_triage, secret, created_by, created_at, updated_at)
       values ($1, true, 'auto', 'token', '{}', false, $2, 'test', $3, $3)`,
      [source, sealed(source, 'stolen'), createdAt],
    );
  };
  const deletedAt = (source: string, at: string): Promise<unknown> =>
    query(
      `insert into audit_log (id, at, actor, action, subject_type, subject_id, details, key_id, mac)
       values ($1, $2, 'test', 'webhook_source.deleted', 'webhook_source', $3, '{}', 'x', '')`,
      [newId(), at, source],
    );
  /** What `change` does since the backup is taken back between the two steps, as a restore does. */
  const restoreAfter = (change: () => Promise<unknown>, given: SecretKeys | undefined = keys) =>
    transactions.run<SourcesAcrossRestore>(async (tx) => {
      await query('drop table if exists backup');
      await query('create table backup as select * from webhook_sources');
      await change();
      await noteSourcesBeforeRestore(tx);
      await tx.query('delete from webhook_sources');
      await tx.query('insert into webhook_sources select * from backup');
      return await carrySourcesOverRestore(tx, given);
    });
  const rows = () =>
    query(
      `select source, enabled, signature, secret, previous_secret, version from webhook_sources order by source`,
    );

  beforeEach(() => query('delete from webhook_sources'));

  it('stay deleted when the audit trail has their deletion, and return when only the row is missing', async () => {
    for (const source of ['deleted', 'never_there', 'made_again']) await add(source);
    await deletedAt('made_again', '2025-12-31');
    const across = await restoreAfter(async () => {
      await query('delete from webhook_sources');
      await deletedAt('deleted', '2026-01-03');
    });
    expect(across).toMatchObject({ deleted: 1, disabled: 0, secretsChanged: 0 });
    expect((await rows()).map(({ source }: { source: string }) => source)).toEqual([
      'made_again',
      'never_there',
    ]);
  });

  it('stay disabled, keep the rotated secret with its signature, and get a version of their own', async () => {
    for (const source of ['disabled', 'rotated', 'same']) await add(source);
    const across = await restoreAfter(async () => {
      await query(
        `update webhook_sources set enabled = false, version = 2, updated_at = now() where source = 'disabled'`,
      );
      await query(
        `update webhook_sources set secret = $1, signature = 'body', version = 3, updated_at = now() where source = 'rotated'`,
        [sealed('rotated', 'the new secret')],
      );
    });
    expect(across).toEqual({ deleted: 0, disabled: 1, secretsChanged: 1, withoutSecret: [] });
    const [disabled, rotated, same] = await rows();
    expect(disabled).toMatchObject({ enabled: false, version: 3 });
    expect(rotated).toMatchObject({ enabled: true, signature: 'body', version: 4 });
    expect(secrets.open('rotated', rotated.secret)).toBe('the new secret');
    expect(same).toMatchObject({ enabled: true, version: 1 });
    expect(secrets.open('same', same.secret)).toBe('stolen');
  });

  it('are disabled without a secret when no key at hand opens the secret that was in use', async () => {
    await add('lost');
    const other = new SealedSecrets(
      new SecretBox(new SecretKeys([createSecretKey(randomBytes(32))])),
    );
    const across = await restoreAfter(() =>
      query(`update webhook_sources set secret = $1, updated_at = now()`, [
        sealed('lost', 'the new secret', other),
      ]),
    );
    expect(across).toMatchObject({ secretsChanged: 0, withoutSecret: ['lost'] });
    expect((await rows())[0]).toMatchObject({ enabled: false, secret: null });
  });
});
