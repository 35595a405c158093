import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NotificationFlow1795003250000 implements MigrationInterface {
  readonly name = 'NotificationFlow1795003250000';

  async up(runner: QueryRunner): Promise<void> {
    // Until then one delivery at a time: the receiver said that more are too many.
    await runner.query(`
      alter table notification_channels add column one_by_one_until timestamptz,
        drop constraint ck_notification_channels_failing,
        add constraint ck_notification_channels_failing check (failures = 0 or failing_since is not null)`);
    // What goes first. The claim has the same list (delivery-writes.repository.ts).
    await runner.query(`
      create index ix_notification_deliveries_urgent on notification_deliveries (channel_id, id)
        where status = 'pending'
          and type in ('kill_switch.activated', 'kill_switch.deactivated', 'action.pending_approval')`);
    await runner.query(`
      create index ix_notification_deliveries_dead on notification_deliveries (channel_id, ended_at)
        where status = 'dead'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `drop index ix_notification_deliveries_urgent, ix_notification_deliveries_dead`,
    );
    await runner.query(
      `update notification_channels set failing_since = null, last_error = null where failures = 0`,
    );
    await runner.query(`
      alter table notification_channels drop column one_by_one_until,
        drop constraint ck_notification_channels_failing,
        add constraint ck_notification_channels_failing check ((failures = 0) = (failing_since is null))`);
  }
}
