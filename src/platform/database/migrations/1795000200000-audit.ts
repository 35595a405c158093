import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Audit1795000200000 implements MigrationInterface {
  readonly name = 'Audit1795000200000';

  async up(runner: QueryRunner): Promise<void> {
    // `details` is json, not jsonb: it keeps every byte, and the MAC covers bytes.
    await runner.query(`
      create table audit_log (
        id uuid constraint pk_audit_log primary key,
        at timestamptz(3) not null,
        actor text not null,
        action text not null,
        subject_type text not null,
        subject_id text not null,
        details json not null,
        xid xid8 not null default pg_current_xact_id(),
        key_id text not null,
        mac bytea not null
      )`);
    await runner.query(`create index ix_audit_log_xid on audit_log (xid)`);
    await runner.query(`create index ix_audit_log_subject_id on audit_log (subject_id)`);
    await runner.query(`
      create table audit_seals (
        seq bigint constraint pk_audit_seals primary key,
        audit_id uuid not null constraint uq_audit_seals_audit_id unique,
        hash bytea not null,
        key_id text not null
      )`);
    // One row: where the chain ends, and how far the sealer has looked.
    await runner.query(`
      create table audit_chain (
        only_row boolean not null default true
          constraint pk_audit_chain primary key
          constraint ck_audit_chain_only_row check (only_row),
        seq bigint not null,
        hash bytea not null,
        cluster text not null,
        sealed_to pg_snapshot,
        sealing_to pg_snapshot,
        after_xid xid8,
        after_id uuid,
        key_id text not null,
        mac bytea not null
      )`);
    await runner.query(`
      create function refuse_change_of_audit() returns trigger language plpgsql as $$
      begin
        raise exception '% is append-only: % is refused', tg_table_name, tg_op using errcode = 'restrict_violation';
      end $$`);
    // For each statement, so that a change that would touch no row is refused as well.
    await runner.query(`
      create trigger audit_log_is_append_only before update or delete or truncate on audit_log
        for each statement execute function refuse_change_of_audit()`);
    await runner.query(`
      create trigger audit_seals_is_append_only before update or delete or truncate on audit_seals
        for each statement execute function refuse_change_of_audit()`);
    await runner.query(`
      create trigger audit_chain_is_kept before delete or truncate on audit_chain
        for each statement execute function refuse_change_of_audit()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table audit_chain, audit_seals, audit_log`);
    await runner.query(`drop function refuse_change_of_audit`);
  }
}
