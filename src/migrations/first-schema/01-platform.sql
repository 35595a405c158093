-- A row exists while work waits or is in progress. The transaction of a change adds and removes the work of that
-- change. Rows are short-lived: vacuum must remove dead row versions soon, or each lookup has to skip them.
-- ready: the row can be claimed, by its lane or, if worker is set, because the claim has expired.
-- due_at: for a ready row, the time when it became ready; for a claimed row, the end of the lease; otherwise the
-- earliest start, or infinity while the row waits for an earlier row of its line.
-- worker: has claimed the row. woken: the work was added again while it was claimed, so it is repeated.
-- died_at, dead_id: dead work stays for operators. If the work dies again, it gets another dead_id.
create table work (
  id bigint generated always as identity,
  kind text collate "C" not null,
  ref uuid not null,
  lane text collate "C" not null,
  line text collate "C",
  urgency smallint not null,
  ready boolean not null,
  due_at timestamptz(3) not null,
  worker uuid,
  fence integer not null default 0,
  attempts integer not null default 0,
  woken boolean not null default false,
  data jsonb,
  state jsonb,
  error text,
  traceparent text,
  added_at timestamptz(3) not null default now(),
  died_at timestamptz(3),
  dead_id uuid,
  constraint pk_work primary key (id),
  constraint uq_work_kind_ref unique (kind, ref)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        vacuum_truncate = off);
create index ix_work_ready on work (lane, urgency, due_at, id) where ready;
create index ix_work_lapsed on work (lane, due_at, id) where ready and worker is not null;
create index ix_work_due on work (due_at) where not ready and died_at is null;
create index ix_work_line on work (kind, line, id) where line is not null and died_at is null;
create index ix_work_dead on work (died_at, dead_id) where died_at is not null;

-- Gives the table many pages: connections would keep the plan for an empty table, which reads the whole table.
insert into work (kind, ref, lane, urgency, ready, due_at)
select 'none', gen_random_uuid(), 'none', 0, false, 'infinity' from generate_series(1, 3000);
delete from work;

-- types, payload: the domain events that become work of the lane. payload is a JSON path predicate.
-- kind: kind of the work, for a lane with its own places and pauses.
-- paused_until, reason: no row is claimed before this time, and the reason.
-- narrow_until: until this time, the lane has only one place.
create table work_lanes (
  lane text collate "C" not null,
  types text[] not null default '{}',
  payload text,
  kind text collate "C",
  places integer,
  paused_until timestamptz,
  reason jsonb,
  narrow_until timestamptz,
  constraint pk_work_lanes primary key (lane)
);

-- Triggers turn the row into work in its statement, so a crash, which empties this unlogged table, loses no event.
create unlogged table domain_events (
  position bigint generated always as identity constraint pk_domain_events primary key,
  events jsonb not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create function events_in(events jsonb) returns table (
  n bigint, id uuid, type text, subject_type text, subject_id text, payload jsonb, occurred_at timestamptz
) language sql stable as $$
  select ordinality, id, type, subject_type, subject_id, payload, occurred_at
    from rows from (jsonb_to_recordset(events) as (
           id uuid, type text, subject_type text, subject_id text, payload jsonb, occurred_at timestamptz))
         with ordinality
$$;

create function add_work_for_events() returns trigger language plpgsql as $$
begin
  insert into work (kind, ref, lane, urgency, ready, due_at, data)
  select lane.lane, event.id, lane.lane, 2, true, now(), jsonb_build_object(
           'id', event.id, 'type', event.type, 'payload', event.payload, 'occurredAt', event.occurred_at,
           'subject', jsonb_build_object('type', event.subject_type, 'id', event.subject_id))
    from new_events cross join lateral events_in(new_events.events) event
    join work_lanes lane on event.type = any(lane.types)
     and (lane.payload is null or event.payload @@ lane.payload::jsonpath)
   order by new_events.position, event.n
  on conflict (kind, ref) do nothing;
  delete from domain_events where position = any(array(select position from new_events));
  return null;
end $$;
-- Other triggers read the events from new_events, not from the rows that this trigger deletes.
create trigger domain_events_become_work after insert on domain_events
  referencing new table as new_events for each statement execute function add_work_for_events();

-- body is text, because a repeated response must equal the first response byte by byte.
create table idempotency_keys (
  principal text not null,
  key text not null,
  fingerprint bytea not null,
  owner uuid not null,
  status smallint not null,
  body text not null,
  sealed boolean not null,
  provisional_until timestamptz,
  kept_at timestamptz not null default now(),
  constraint pk_idempotency_keys primary key (principal, key)
);
create index ix_idempotency_keys_kept_at on idempotency_keys (kept_at);

-- Ids of the keys that this database needs. An id is derived from its key.
create table secret_keys (
  id text constraint pk_secret_keys primary key,
  known_since timestamptz(3) not null default now(),
  retired_at timestamptz(3)
);

create table write_probe (
  id uuid constraint pk_write_probe primary key,
  filler text not null
) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0);
-- Each row fills a page, so that each write extends the file. A full disk rejects exactly such a write.
alter table write_probe alter column filler set storage plain;

create function probe_writes() returns void language plpgsql as $$
begin
  insert into write_probe values (gen_random_uuid(), repeat('.', 8000));
  raise exception 'taken back' using errcode = 'ITS00';
exception when sqlstate 'ITS00' then
  -- The exception has rolled back the insert. Vacuum frees the page.
  null;
end $$;
