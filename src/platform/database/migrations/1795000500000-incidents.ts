import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Incidents1795000500000 implements MigrationInterface {
  readonly name = 'Incidents1795000500000';

  async up(runner: QueryRunner): Promise<void> {
    await createIncidents(runner);
    await createTimeline(runner);
    await createCounts(runner);
    await countByTrigger(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table incident_timeline, incidents`);
    await runner.query(
      `drop table incident_count_deltas, incident_counts, incident_segments, incident_count_state`,
    );
    await runner.query(
      `drop function count_added_incidents, count_changed_incidents, count_removed_incidents`,
    );
    await runner.query(`drop sequence if exists incident_number`);
    await runner.query(`drop type incident_severity, incident_status`);
  }
}

async function createIncidents(runner: QueryRunner): Promise<void> {
  // Enumerations sort in the order of their declaration: severity by rank, status by its word.
  await runner.query(`create type incident_severity as enum ('low', 'medium', 'high', 'critical')`);
  await runner.query(`create type incident_status as enum ('open', 'resolved', 'triaged')`);
  await runner.query(`create sequence incident_number as bigint`);
  // The id of version 7 begins with created_at: the primary key is the default order of the list, and its bounds in time.
  // raw_data is json, not jsonb: it is answered with every digit that came, and costs no parsing to read.
  await runner.query(`
    create table incidents (
      id uuid constraint pk_incidents primary key,
      number bigint not null default nextval('incident_number')
        constraint uq_incidents_number unique,
      incident_type text collate "C" not null,
      severity incident_severity not null,
      status incident_status not null,
      source text collate "C" not null,
      raw_data json not null,
      verdict json,
      verdict_by_person boolean not null default false,
      recommended_actions text[] not null default '{}',
      resolution text,
      version integer not null default 1,
      created_by text not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      triaged_at timestamptz(3),
      deleted_at timestamptz(3),
      constraint ck_incidents_id_begins_with_created_at check (
        substring(uuid_send(id) from 1 for 6) =
        substring(int8send((extract(epoch from created_at) * 1000)::bigint) from 3))
    )`);
  await runner.query(`alter sequence incident_number owned by incidents.number`);
  // New rows become all-visible soon, which keeps index-only scans from looking into the table.
  await runner.query(`
    alter table incidents set (
      autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05)`);
  // A filter, and every combination of filters, is one range of an index in the order of ids, or a merge of a few.
  for (const [name, columns] of [
    ['status', 'status, severity, id'],
    ['type', 'incident_type, id'],
    ['type_status', 'incident_type, status, severity, id'],
    ['source', 'source, id) include (incident_type'],
    ['source_status', 'source, status, severity, id) include (incident_type'],
  ]) {
    await runner.query(
      `create index ix_incidents_${name} on incidents (${columns}) where deleted_at is null`,
    );
  }
  await runner.query(`
    create index ix_incidents_updated_at on incidents (updated_at, id) where deleted_at is null`);
  await runner.query(`
    create index ix_incidents_triaged_at on incidents (triaged_at, id)
      where triaged_at is not null and deleted_at is null`);
}

async function createTimeline(runner: QueryRunner): Promise<void> {
  // The creation needs no row: the incident itself tells it.
  await runner.query(`
    create table incident_timeline (
      id uuid constraint pk_incident_timeline primary key,
      incident_id uuid not null
        constraint fk_incident_timeline_incident references incidents (id),
      at timestamptz(3) not null,
      event text not null,
      actor text not null,
      summary text not null,
      subject_type text,
      subject_id text,
      constraint ck_incident_timeline_subject check ((subject_type is null) = (subject_id is null))
    )`);
  await runner.query(
    `create index ix_incident_timeline_incident on incident_timeline (incident_id, id)`,
  );
}

async function createCounts(runner: QueryRunner): Promise<void> {
  // What each transaction added or took away: appended by the triggers, so that no writer waits for another.
  await runner.query(`
    create table incident_count_deltas (
      xid xid8 not null default pg_current_xact_id(),
      incident_id uuid not null,
      incident_type text collate "C" not null,
      severity incident_severity not null,
      status incident_status not null,
      source text collate "C" not null,
      n smallint not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false)`);
  await runner.query(`create index ix_incident_count_deltas_xid on incident_count_deltas (xid)`);
  // The table is empty most of the time, and a plan made then would read all of it when it is not. With pages that it
  // keeps for ever the planner prefers the index from the start.
  await runner.query(`
    insert into incident_count_deltas (incident_id, incident_type, severity, status, source, n)
      select '00000000-0000-0000-0000-000000000000', 'none', 'low', 'open', 'none', 0
        from generate_series(1, 10000)`);
  await runner.query(`delete from incident_count_deltas`);
  // The deltas that the fold has seen, summed up. An empty word stands for any.
  await runner.query(`
    create table incident_counts (
      source text collate "C" not null,
      incident_type text collate "C" not null,
      severity text collate "C" not null,
      status text collate "C" not null,
      n bigint not null,
      constraint pk_incident_counts primary key (source, incident_type, severity, status)
    ) with (fillfactor = 50)`);
  // Runs of the list in the order of ids, from first_id up to the next run's: how many incidents each holds.
  await runner.query(`
    create table incident_segments (
      first_id uuid constraint pk_incident_segments primary key,
      n bigint not null
    ) with (fillfactor = 50)`);
  await runner.query(`
    insert into incident_segments values ('00000000-0000-0000-0000-000000000000', 0)`);
  // One row: which transactions the fold has seen.
  await runner.query(`
    create table incident_count_state (
      only_row boolean not null default true
        constraint pk_incident_count_state primary key
        constraint ck_incident_count_state_only_row check (only_row),
      folded pg_snapshot not null
    ) with (fillfactor = 10)`);
  await runner.query(`insert into incident_count_state (folded) values (pg_current_snapshot())`);
}

/** By trigger, so that the counts are right whoever writes: a module to come, or an operator by hand. */
async function countByTrigger(runner: QueryRunner): Promise<void> {
  const columns = 'incident_id, incident_type, severity, status, source, n';
  const delta = (n: string) => `id, incident_type, severity, status, source, ${n}`;
  await runner.query(`
    create function count_added_incidents() returns trigger language plpgsql as $$
    begin
      insert into incident_count_deltas (${columns})
        select ${delta('1')} from added where deleted_at is null;
      return null;
    end $$`);
  await runner.query(`
    create function count_removed_incidents() returns trigger language plpgsql as $$
    begin
      insert into incident_count_deltas (${columns})
        select ${delta('-1')} from removed where deleted_at is null;
      return null;
    end $$`);
  // What did not change what it counts as leaves no trace.
  await runner.query(`
    create function count_changed_incidents() returns trigger language plpgsql as $$
    begin
      insert into incident_count_deltas (${columns})
        select id, incident_type, severity, status, source, sum(n) from (
          select ${delta('1 as n')} from added where deleted_at is null
          union all
          select ${delta('-1 as n')} from removed where deleted_at is null) as change
        group by id, incident_type, severity, status, source having sum(n) <> 0;
      return null;
    end $$`);
  await runner.query(`
    create trigger incidents_added_are_counted after insert on incidents
      referencing new table as added
      for each statement execute function count_added_incidents()`);
  await runner.query(`
    create trigger incidents_changed_are_counted after update on incidents
      referencing old table as removed new table as added
      for each statement execute function count_changed_incidents()`);
  await runner.query(`
    create trigger incidents_removed_are_counted after delete on incidents
      referencing old table as removed
      for each statement execute function count_removed_incidents()`);
}
