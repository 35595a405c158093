import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Attention1795003510000 implements MigrationInterface {
  readonly name = 'Attention1795003510000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table attention_marks (
        kind text collate "C" not null,
        subject text collate "C" not null,
        at timestamptz not null,
        done_by text not null,
        done_at timestamptz(3) not null default now(),
        reason text not null,
        constraint pk_attention_marks primary key (kind, subject)
      )`);
    // Few rows are in them, and the list looks for those few.
    await runner.query(
      `create index ix_playbook_run_steps_failed on playbook_run_steps (completed_at) where status = 'failed' and action_id is null`,
    );
    await runner.query(
      `create index ix_triage_runs_failed on triage_runs (id) where status = 'failed'`,
    );
    await runner.query(
      `create index ix_incident_timeline_update_of_resolved on incident_timeline (id) where event = 'update_of_resolved'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_incident_timeline_update_of_resolved`);
    await runner.query(`drop index ix_triage_runs_failed`);
    await runner.query(`drop index ix_playbook_run_steps_failed`);
    await runner.query(`drop table attention_marks`);
  }
}
