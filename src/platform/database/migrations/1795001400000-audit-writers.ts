import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AuditWriters1795001400000 implements MigrationInterface {
  readonly name = 'AuditWriters1795001400000';

  async up(runner: QueryRunner): Promise<void> {
    // Which process wrote the row, and how many of its rows it knew to be committed by then; absent in older rows.
    await runner.query(`alter table audit_log add column writer text, add column written bigint`);
    // Every process looks for these few rows once a second.
    await runner.query(
      `create index ix_audit_log_head_accepted on audit_log (id) where action = 'audit.head_accepted'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_audit_log_head_accepted`);
    await runner.query(`alter table audit_log drop column writer, drop column written`);
  }
}
