import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PlaybookRunStarts1795003520000 implements MigrationInterface {
  readonly name = 'PlaybookRunStarts1795003520000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table playbook_runs add column starts_at timestamptz(3)`);
    await runner.query(
      `create index ix_playbook_runs_starts on playbook_runs (playbook_id, starts_at) where starts_at is not null`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table playbook_runs drop column starts_at`);
  }
}
