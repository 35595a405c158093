import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Webhooks1795001800000 implements MigrationInterface {
  readonly name = 'Webhooks1795001800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhook_sources (
        source text collate "C" constraint pk_webhook_sources primary key,
        enabled boolean not null,
        format text not null,
        signature text not null,
        preset text,
        mapping jsonb,
        incident_type text,
        severity_mapping jsonb not null,
        auto_triage boolean not null,
        playbook text,
        secret text,
        previous_secret text,
        previous_secret_until timestamptz(3),
        version integer not null default 1,
        created_by text not null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        constraint ck_webhook_sources_secret check (secret is not null or not enabled),
        constraint ck_webhook_sources_previous_secret check (
          (previous_secret is null) = (previous_secret_until is null))
      )`);
    await runner.query(`
      create index ix_webhook_sources_created_at on webhook_sources (created_at, source)`);
    await createEvents(runner);
    await countByTrigger(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `drop table webhook_sources, webhook_events, webhook_seen_events,
         webhook_event_counts, webhook_event_count_deltas`,
    );
    await runner.query(
      `drop function count_added_webhook_events, count_changed_webhook_events,
         count_removed_webhook_events`,
    );
  }
}

async function createEvents(runner: QueryRunner): Promise<void> {
  // The exact bytes are kept, but those of a duplicate: the first receipt has the same.
  await runner.query(`
    create table webhook_events (
      id uuid constraint pk_webhook_events primary key,
      source text collate "C" not null,
      status text collate "C" not null,
      body bytea,
      body_hash bytea not null,
      incident_ids uuid[] not null default '{}',
      duplicate_of uuid,
      error text,
      attempts integer not null default 0,
      received_at timestamptz(3) not null,
      processed_at timestamptz(3),
      constraint ck_webhook_events_status check (
        status in ('queued', 'processed', 'duplicate', 'updated', 'failed'))
    )`);
  // Each filter is a range of an index in the order of ids, or a merge of one for each status.
  await runner.query(`create index ix_webhook_events_status on webhook_events (status, id)`);
  await runner.query(`
    create index ix_webhook_events_source_status on webhook_events (source, status, id)`);
  // A sender that repeats what failed or still waits finds what became of its first attempt.
  await runner.query(`
    create unique index uq_webhook_events_unsettled on webhook_events (source, body_hash)
      where status in ('queued', 'failed')`);
  // The sender's id of an event and what it was like: by this a repetition is known, however long ago it was.
  await runner.query(`
    create table webhook_seen_events (
      source text collate "C" not null,
      event_key bytea not null,
      content_hashes bytea[] not null,
      event_id uuid not null,
      incident_id uuid not null,
      constraint pk_webhook_seen_events primary key (source, event_key)
    )`);
}

/** The totals of the list of events: see docs/adr/0010. */
async function countByTrigger(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table webhook_event_counts (
      source text collate "C" not null,
      status text collate "C" not null,
      n bigint not null,
      constraint pk_webhook_event_counts primary key (source, status)
    )`);
  await runner.query(`
    create table webhook_event_count_deltas (
      id bigint generated always as identity constraint pk_webhook_event_count_deltas primary key,
      source text collate "C" not null,
      status text collate "C" not null,
      n bigint not null
    )`);
  for (const [name, event, referencing, deltas] of [
    ['added', 'insert', 'new table as added', 'select source, status, 1 as n from added'],
    [
      'changed',
      'update',
      'old table as removed new table as added',
      `select source, status, 1 as n from added union all select source, status, -1 from removed`,
    ],
    ['removed', 'delete', 'old table as removed', 'select source, status, -1 as n from removed'],
  ]) {
    await runner.query(`
      create function count_${name}_webhook_events() returns trigger language plpgsql as $$
      begin
        insert into webhook_event_count_deltas (source, status, n)
          select source, status, sum(n) from (${deltas}) as delta group by 1, 2 having sum(n) <> 0;
        return null;
      end $$`);
    await runner.query(`
      create trigger count_${name} after ${event} on webhook_events referencing ${referencing}
        for each statement execute function count_${name}_webhook_events()`);
  }
}
