import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Playbooks1795002000000 implements MigrationInterface {
  readonly name = 'Playbooks1795002000000';

  async up(runner: QueryRunner): Promise<void> {
    // `definition` is json, not jsonb: people find their parameters in the order in which they wrote them.
    await runner.query(`
      create table playbooks (
        id uuid constraint pk_playbooks primary key,
        name text collate "C" not null,
        version integer not null default 1,
        enabled boolean not null,
        auto_run boolean not null,
        definition json not null,
        created_by text not null,
        created_at timestamptz(3) not null default now(),
        updated_by text not null,
        updated_at timestamptz(3) not null default now(),
        deleted_at timestamptz(3),
        constraint ck_playbooks_name check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$')
      )`);
    await runner.query(
      `create unique index uq_playbooks_name on playbooks (name) where deleted_at is null`,
    );
    await runner.query(
      `create index ix_playbooks_created_at on playbooks (created_at, id) where deleted_at is null`,
    );
    await runner.query(`
      create index ix_playbooks_auto_run on playbooks (name)
        where auto_run and enabled and deleted_at is null`);
    await runner.query(`
      create table playbook_versions (
        playbook_id uuid not null
          constraint fk_playbook_versions_playbook references playbooks (id),
        version integer not null,
        name text collate "C" not null,
        definition json not null,
        changed_by text not null,
        changed_at timestamptz(3) not null default now(),
        constraint pk_playbook_versions primary key (playbook_id, version)
      )`);
    // A run rests for days on the version that it began with.
    await runner.query(`
      create function refuse_change_of_playbook_version() returns trigger language plpgsql as $$
      begin
        raise exception 'A version of a playbook cannot change: % is refused', tg_op
          using errcode = 'restrict_violation';
      end $$`);
    await runner.query(`
      create trigger playbook_versions_stay before update or delete or truncate on playbook_versions
        for each statement execute function refuse_change_of_playbook_version()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table playbook_versions, playbooks`);
    await runner.query(`drop function refuse_change_of_playbook_version`);
  }
}
