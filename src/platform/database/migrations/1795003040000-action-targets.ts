import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ActionTargets1795003040000 implements MigrationInterface {
  readonly name = 'ActionTargets1795003040000';

  async up(runner: QueryRunner): Promise<void> {
    // SHA-256 of the normal form of the target. Null for types that may be repeated, and for actions from before.
    await runner.query(`alter table actions add column target_hash bytea`);
    await runner.query(`create index ix_actions_target on actions (target_hash, action_type, id)
      where target_hash is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table actions drop column target_hash`);
  }
}
