-- Enumerations sort in the order of their declaration. Here severity sorts by rank, and status alphabetically.
create type incident_severity as enum ('low', 'medium', 'high', 'critical');
create type incident_status as enum ('open', 'resolved', 'triaged');

create sequence incident_number as bigint;

-- The id is a UUID of version 7 and begins with created_at, so the primary key gives the default order of the list.
-- raw_data is json, not jsonb: json keeps every digit of the event and is read without parsing.
-- fields: the common fields of the event, copied from raw_data.
-- source_status: null until the tool reports that the alert is over.
create table incidents (
  id uuid constraint pk_incidents primary key,
  number bigint not null default nextval('incident_number') constraint uq_incidents_number unique,
  -- INC-<year of creation in UTC>-<sequence>. The sequence does not restart each year, so the number is unique.
  incident_number text collate "C" not null generated always as (
    'INC-' || extract(year from created_at at time zone 'UTC')::text || '-'
      || lpad(number::text, greatest(4, length(number::text)), '0')) stored,
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
  title text not null,
  resolved_at timestamptz(3),
  resolved_by text,
  -- The list filters by this column. With an index on an expression, each count would read the incidents.
  classification text collate "C" generated always as (verdict ->> 'classification') stored,
  fields json not null,
  source_status text collate "C",
  constraint ck_incidents_id_begins_with_created_at check (
    substring(uuid_send(id) from 1 for 6) =
    substring(int8send((extract(epoch from created_at) * 1000)::bigint) from 3))
);
alter sequence incident_number owned by incidents.number;
-- Vacuum soon marks new rows as all-visible, so index-only scans rarely have to read the table.
alter table incidents set (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);

-- Each combination of filters reads one range of an index in the order of ids, or merges a few ranges.
create index ix_incidents_status on incidents (status, severity, id) where deleted_at is null;
create index ix_incidents_type on incidents (incident_type, id) where deleted_at is null;
create index ix_incidents_type_status on incidents (incident_type, status, severity, id) where deleted_at is null;
create index ix_incidents_source on incidents (source, id) include (incident_type) where deleted_at is null;
create index ix_incidents_source_status on incidents (source, status, severity, id) include (incident_type)
  where deleted_at is null;
create index ix_incidents_classification on incidents (classification, id)
  include (status, severity, incident_type, source)
  where classification is not null and deleted_at is null;
create index ix_incidents_updated_at on incidents (updated_at, id) where deleted_at is null;
create index ix_incidents_triaged_at on incidents (triaged_at, id)
  where triaged_at is not null and deleted_at is null;
create index ix_incidents_resolved_at on incidents (resolved_at, id)
  where resolved_at is not null and deleted_at is null;

-- The creation has no row, because the incident itself shows it.
create table incident_timeline (
  id uuid constraint pk_incident_timeline primary key,
  incident_id uuid not null constraint fk_incident_timeline_incident references incidents (id),
  at timestamptz(3) not null,
  event text not null,
  actor text not null,
  summary text not null,
  subject_type text,
  subject_id text,
  details json,
  constraint ck_incident_timeline_subject check ((subject_type is null) = (subject_id is null))
);
create index ix_incident_timeline_incident on incident_timeline (incident_id, id);
create index ix_incident_timeline_updates_left on incident_timeline (id)
  where event in ('update_of_resolved', 'update_of_judged');

-- Further events of an incident. raw_data is json, not jsonb, because an event is shown exactly as it arrived.
create table incident_reports (
  id uuid constraint pk_incident_reports primary key,
  incident_id uuid not null constraint fk_incident_reports_incident references incidents (id),
  at timestamptz(3) not null,
  source text not null,
  severity incident_severity not null,
  webhook_event_id uuid not null,
  raw_data json not null
);
create index ix_incident_reports_incident on incident_reports (incident_id, id);

-- Count changes: triggers append rows, so that no writer waits. A later statement adds them to incident_counts.
create table incident_count_deltas (
  id bigint generated always as identity constraint pk_incident_count_deltas primary key,
  source text collate "C" not null,
  incident_type text collate "C" not null,
  severity incident_severity not null,
  status incident_status not null,
  n integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table incident_counts (
  source text collate "C" not null,
  incident_type text collate "C" not null,
  severity incident_severity not null,
  status incident_status not null,
  n bigint not null,
  constraint pk_incident_counts primary key (source, incident_type, severity, status)
) with (fillfactor = 50);

-- Triggers append the count changes, so that the counts are right for every writer, for example an operator with psql.
create function count_added_incidents() returns trigger language plpgsql as $$
begin
  insert into incident_count_deltas (source, incident_type, severity, status, n)
    select source, incident_type, severity, status, count(*) from added where deleted_at is null
     group by source, incident_type, severity, status;
  return null;
end $$;
create trigger incidents_added_are_counted after insert on incidents
  referencing new table as added
  for each statement execute function count_added_incidents();

create function count_changed_incidents() returns trigger language plpgsql as $$
begin
  insert into incident_count_deltas (source, incident_type, severity, status, n)
    select source, incident_type, severity, status, sum(n) from (
      select source, incident_type, severity, status, 1 as n from added where deleted_at is null
      union all
      select source, incident_type, severity, status, -1 as n from removed where deleted_at is null) as change
    group by source, incident_type, severity, status having sum(n) <> 0;
  return null;
end $$;
create trigger incidents_changed_are_counted after update on incidents
  referencing old table as removed new table as added
  for each statement execute function count_changed_incidents();

create function count_removed_incidents() returns trigger language plpgsql as $$
begin
  insert into incident_count_deltas (source, incident_type, severity, status, n)
    select source, incident_type, severity, status, -count(*) from removed where deleted_at is null
     group by source, incident_type, severity, status;
  return null;
end $$;
create trigger incidents_removed_are_counted after delete on incidents
  referencing old table as removed
  for each statement execute function count_removed_incidents();
