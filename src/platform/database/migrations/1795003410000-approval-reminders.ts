import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ApprovalReminders1795003410000 implements MigrationInterface {
  readonly name = 'ApprovalReminders1795003410000';

  async up(runner: QueryRunner): Promise<void> {
    // When the approvers were last told that the action expires soon.
    await runner.query(`alter table actions add column reminded_at timestamptz`);
    // Of channels that chose everything that there was.
    await runner.query(`
      update notification_channels set events = events || array['action.expiring', 'playbook.step_failed'] where cardinality(events) = 15`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      update notification_channels set events = array_remove(array_remove(events, 'action.expiring'), 'playbook.step_failed')`);
    await runner.query(`alter table actions drop column reminded_at`);
  }
}
