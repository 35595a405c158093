import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SecretKeys1795001500000 implements MigrationInterface {
  readonly name = 'SecretKeys1795001500000';

  async up(runner: QueryRunner): Promise<void> {
    // The keys that something in this database needs, by their ids. A verifier proves that a key is the one meant; it
    // is missing until a start holds a key that was used before there was this table.
    await runner.query(`
      create table secret_keys (
        id text constraint pk_secret_keys primary key,
        verifier bytea,
        known_since timestamptz(3) not null default now(),
        last_used_at timestamptz(3),
        retired_at timestamptz(3)
      )`);
    await runner.query(`
      insert into secret_keys (id)
        select key_id from audit_log
        union select key_id from audit_seals
        union select key_id from audit_chain
        union select split_part(secrets, '.', 2) from connectors where secrets is not null
        union select split_part(body, '.', 2) from idempotency_keys where sealed`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table secret_keys`);
  }
}
