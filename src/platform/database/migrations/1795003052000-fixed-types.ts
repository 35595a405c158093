import type { MigrationInterface, QueryRunner } from 'typeorm';

export class FixedTypes1795003052000 implements MigrationInterface {
  readonly name = 'FixedTypes1795003052000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table webhook_sources
        add column incident_type_fixed boolean not null default false,
        add column min_severity incident_severity not null default 'low'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table webhook_sources drop column incident_type_fixed, drop column min_severity`);
  }
}
