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
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  type_mapping jsonb not null default '{}',
  incident_type_fixed boolean not null default false,
  min_severity incident_severity not null default 'low',
  constraint ck_webhook_sources_secret check (secret is not null or not enabled),
  constraint ck_webhook_sources_previous_secret check (
    (previous_secret is null) = (previous_secret_until is null))
);
create index ix_webhook_sources_created_at on webhook_sources (created_at, source);

-- body: the exact bytes. Null for a duplicate, because the first event has the same bytes.
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
);
create index ix_webhook_events_status on webhook_events (status, id);
create index ix_webhook_events_source_status on webhook_events (source, status, id);
-- For the latest failures of a source, even if their events were received long ago.
create index ix_webhook_events_failed on webhook_events (source, processed_at) where status = 'failed';
-- A sender may repeat an event that failed or is still queued. The sender then gets the state of the existing row.
create unique index uq_webhook_events_unsettled on webhook_events (source, body_hash)
  where status in ('queued', 'failed');

-- Keys and content hashes of events, to recognise a repetition even if the first event was long ago.
create table webhook_seen_events (
  source text collate "C" not null,
  event_key bytea not null,
  content_hashes bytea[] not null,
  event_id uuid not null,
  incident_id uuid not null,
  constraint pk_webhook_seen_events primary key (source, event_key)
);

-- Counts: triggers append changes, later added to the totals (docs/adr/0010) ----------------------

create table webhook_event_counts (
  source text collate "C" not null,
  status text collate "C" not null,
  n bigint not null,
  constraint pk_webhook_event_counts primary key (source, status)
);

create table webhook_event_count_deltas (
  id bigint generated always as identity constraint pk_webhook_event_count_deltas primary key,
  source text collate "C" not null,
  status text collate "C" not null,
  n bigint not null
);

create function count_added_webhook_events() returns trigger language plpgsql as $$
begin
  insert into webhook_event_count_deltas (source, status, n)
    select source, status, count(*) from added group by source, status;
  return null;
end $$;
create trigger count_added after insert on webhook_events referencing new table as added
  for each statement execute function count_added_webhook_events();

create function count_changed_webhook_events() returns trigger language plpgsql as $$
begin
  insert into webhook_event_count_deltas (source, status, n)
    select source, status, sum(n) from (
      select source, status, 1 as n from added
      union all
      select source, status, -1 from removed) as delta
    group by source, status having sum(n) <> 0;
  return null;
end $$;
create trigger count_changed after update on webhook_events referencing old table as removed new table as added
  for each statement execute function count_changed_webhook_events();

create function count_removed_webhook_events() returns trigger language plpgsql as $$
begin
  insert into webhook_event_count_deltas (source, status, n)
    select source, status, -count(*) from removed group by source, status;
  return null;
end $$;
create trigger count_removed after delete on webhook_events referencing old table as removed
  for each statement execute function count_removed_webhook_events();
