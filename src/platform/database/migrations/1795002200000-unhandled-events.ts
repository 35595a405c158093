import type { MigrationInterface, QueryRunner } from 'typeorm';

export class UnhandledEvents1795002200000 implements MigrationInterface {
  readonly name = 'UnhandledEvents1795002200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table unhandled_events (
        event_id uuid not null,
        handler text not null,
        type text not null,
        subject_type text not null,
        subject_id text not null,
        payload jsonb not null,
        occurred_at timestamptz(3) not null,
        constraint pk_unhandled_events primary key (event_id, handler)
      )`);
    // Rows live for moments, as those of domain_events.
    await runner.query(`
      alter table unhandled_events set (
        autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table unhandled_events`);
  }
}
