import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many events a channel could choose before `incident.reopened`. */
const EVENTS_BEFORE = 14;

export class Reopened1795003300000 implements MigrationInterface {
  readonly name = 'Reopened1795003300000';

  async up(runner: QueryRunner): Promise<void> {
    // Who wanted all that there was wants all that there is.
    await runner.query(
      `update notification_channels set events = events || array['incident.reopened']
        where cardinality(events) = $1`,
      [EVENTS_BEFORE],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update notification_channels set events = array_remove(events, 'incident.reopened')
       where 'incident.reopened' = any(events) and cardinality(events) > 1`);
  }
}
