import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IncidentFields1795003000000 implements MigrationInterface {
  readonly name = 'IncidentFields1795003000000';

  /** Null for the incidents that are there: their fields are read from raw_data, where older releases put them. */
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table incidents add column fields json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table incidents drop column fields`);
  }
}
