import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IncidentTitles1795001700000 implements MigrationInterface {
  readonly name = 'IncidentTitles1795001700000';

  async up(runner: QueryRunner): Promise<void> {
    // Incidents that there are already keep none: to give a million of them one would rewrite the table.
    await runner.query(`alter table incidents add column title text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table incidents drop column title`);
  }
}
