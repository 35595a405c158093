import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KillSwitch1795000600000 implements MigrationInterface {
  readonly name = 'KillSwitch1795000600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table kill_switch (
        only_row boolean constraint pk_kill_switch primary key default true,
        active boolean not null default false,
        reason text,
        activated_by text,
        activated_at timestamptz(3),
        deactivated_by text,
        deactivated_at timestamptz(3),
        deactivation_reason text,
        constraint ck_kill_switch_only_row check (only_row),
        constraint ck_kill_switch_active check (
          not active
          or (reason is not null and activated_by is not null and activated_at is not null and deactivated_at is null)
        )
      )`);
    await runner.query(`insert into kill_switch default values`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table kill_switch`);
  }
}
