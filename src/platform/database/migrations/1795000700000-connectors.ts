import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Connectors1795000700000 implements MigrationInterface {
  readonly name = 'Connectors1795000700000';

  async up(runner: QueryRunner): Promise<void> {
    // A deleted connector stays, without its secrets: actions refer to it, and a first start is known by no row at all.
    await runner.query(`
      create table connectors (
        id uuid constraint pk_connectors primary key,
        name text not null,
        type text not null,
        enabled boolean not null,
        priority integer not null,
        config jsonb not null,
        secrets text,
        secret_names text[] not null default '{}',
        version integer not null default 1,
        health text,
        health_message text,
        latency_ms integer,
        last_checked_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        deleted_at timestamptz(3),
        constraint ck_connectors_health check (health in ('healthy', 'degraded', 'unhealthy')),
        constraint ck_connectors_deleted check (deleted_at is null or (secrets is null and not enabled))
      )`);
    await runner.query(
      `create unique index uq_connectors_name on connectors (name) where deleted_at is null`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table connectors`);
  }
}
