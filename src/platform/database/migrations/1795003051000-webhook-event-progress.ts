import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookEventProgress1795003051000 implements MigrationInterface {
  readonly name = 'WebhookEventProgress1795003051000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table webhook_events add column progress jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table webhook_events drop column progress`);
  }
}
