import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DomainEvents1795000100000 implements MigrationInterface {
  readonly name = 'DomainEvents1795000100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table domain_events (
        position bigint generated always as identity,
        id uuid not null,
        type text not null,
        subject_type text not null,
        subject_id text not null,
        payload jsonb not null,
        occurred_at timestamptz(3) not null,
        constraint domain_events_pkey primary key (position)
      )
    `);
    // Rows live for moments: what they leave must go before the next look has to step over it.
    await runner.query(`
      alter table domain_events set (
        autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000
      )
    `);
    await runner.query(`
      create table processed_events (
        event_id uuid not null,
        handler text not null,
        constraint processed_events_pkey primary key (event_id, handler)
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table processed_events');
    await runner.query('drop table domain_events');
  }
}
