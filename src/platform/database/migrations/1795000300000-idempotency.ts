import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Idempotency1795000300000 implements MigrationInterface {
  readonly name = 'Idempotency1795000300000';

  async up(runner: QueryRunner): Promise<void> {
    // `body` is text: what is answered again is what was answered, to the letter.
    await runner.query(`
      create table idempotency_keys (
        principal text not null,
        key text not null,
        fingerprint bytea not null,
        owner uuid not null,
        status smallint not null,
        body text not null,
        sealed boolean not null,
        provisional_until timestamptz,
        kept_at timestamptz not null default now(),
        constraint pk_idempotency_keys primary key (principal, key)
      )`);
    await runner.query(`create index ix_idempotency_keys_kept_at on idempotency_keys (kept_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table idempotency_keys`);
  }
}
