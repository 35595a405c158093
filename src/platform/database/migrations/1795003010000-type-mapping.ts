import type { MigrationInterface, QueryRunner } from 'typeorm';

export class TypeMapping1795003010000 implements MigrationInterface {
  readonly name = 'TypeMapping1795003010000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table webhook_sources add column type_mapping jsonb not null default '{}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table webhook_sources drop column type_mapping`);
  }
}
