import type { MigrationInterface, QueryRunner } from 'typeorm';

export class UpdatedEvents1795003530000 implements MigrationInterface {
  readonly name = 'UpdatedEvents1795003530000';

  async up(runner: QueryRunner): Promise<void> {
    // Of channels that chose everything that there was.
    await runner.query(`
      update notification_channels set events = events || array['incident.updated'] where cardinality(events) = 17`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update notification_channels set events = array_remove(events, 'incident.updated')`);
  }
}
