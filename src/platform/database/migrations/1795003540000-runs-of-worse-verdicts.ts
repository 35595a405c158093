import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RunsOfWorseVerdicts1795003540000 implements MigrationInterface {
  readonly name = 'RunsOfWorseVerdicts1795003540000';

  async up(runner: QueryRunner): Promise<void> {
    // Of the verdict that the run goes by; empty where there was none.
    await runner.query(
      `alter table playbook_runs add column classification text collate "C" not null default ''`,
    );
    await runner.query(`
      update playbook_runs set classification = coalesce(incident #>> '{verdict,classification}', '')
       where automatic`);
    await runner.query(`drop index uq_playbook_runs_automatic`);
    await runner.query(`
      create unique index uq_playbook_runs_automatic
        on playbook_runs (incident_id, playbook_id, playbook_version, classification) where automatic`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index uq_playbook_runs_automatic`);
    // Without the column only one run of each version may be automatic: the first.
    await runner.query(`
      update playbook_runs later set automatic = false
       where automatic and exists (
         select from playbook_runs first
          where first.incident_id = later.incident_id and first.playbook_id = later.playbook_id
            and first.playbook_version = later.playbook_version and first.automatic and first.id < later.id)`);
    await runner.query(`
      create unique index uq_playbook_runs_automatic
        on playbook_runs (incident_id, playbook_id, playbook_version) where automatic`);
    await runner.query(`alter table playbook_runs drop column classification`);
  }
}
