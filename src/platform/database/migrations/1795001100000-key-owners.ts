import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KeyOwners1795001100000 implements MigrationInterface {
  readonly name = 'KeyOwners1795001100000';

  async up(runner: QueryRunner): Promise<void> {
    // Whose key it is, also where another key made it. Nobody's: those of the first start, and what was made with them.
    await runner.query(
      `alter table api_keys add column owner_id uuid constraint fk_api_keys_owner_id references users (id)`,
    );
    await runner.query(`
      with recursive owned (name, owner_id) as (
        select k.name, u.id from api_keys k join users u on u.username = k.created_by
        union all
        select k.name, maker.owner_id from owned maker join api_keys k on k.created_by = 'key:' || maker.name
      )
      update api_keys k set owner_id = owned.owner_id from owned where owned.name = k.name`);
    await runner.query(
      `create index ix_api_keys_owner_id on api_keys (owner_id) where revoked_at is null`,
    );
    await runner.query(
      `create index ix_api_keys_created_by on api_keys (created_by, created_at, id) where revoked_at is null`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_api_keys_created_by`);
    await runner.query(`alter table api_keys drop column owner_id`);
  }
}
