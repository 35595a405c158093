-- definition is json, not jsonb, because json keeps the order in which people wrote the parameters.
create table playbooks (
  id uuid constraint pk_playbooks primary key,
  name text collate "C" not null,
  version integer not null default 1,
  enabled boolean not null,
  auto_run boolean not null,
  definition json not null,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_by text not null,
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  constraint ck_playbooks_name check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);
create unique index uq_playbooks_name on playbooks (name) where deleted_at is null;
create index ix_playbooks_created_at on playbooks (created_at, id) where deleted_at is null;
create index ix_playbooks_auto_run on playbooks (name) where auto_run and enabled and deleted_at is null;

-- auto_run_by, trust_verdict_by: principal who last set the flag. Null while the flag is not set.
create table playbook_versions (
  playbook_id uuid not null constraint fk_playbook_versions_playbook references playbooks (id),
  version integer not null,
  name text collate "C" not null,
  definition json not null,
  changed_by text not null,
  changed_at timestamptz(3) not null default now(),
  auto_run_by text,
  trust_verdict_by text,
  constraint pk_playbook_versions primary key (playbook_id, version)
);
-- A run uses the version with which it started, and a run can last for days. So a version must not change.
create function refuse_change_of_playbook_version() returns trigger language plpgsql as $$
begin
  raise exception 'A version of a playbook cannot change: % is refused', tg_op
    using errcode = 'restrict_violation';
end $$;
create trigger playbook_versions_stay before update or delete or truncate on playbook_versions
  for each statement execute function refuse_change_of_playbook_version();

-- on_behalf_of: the person who caused the verdict of an automatic run.
-- incident: a copy from the start of the run, so that the decisions of the run stay the same while it waits.
-- classification: from the verdict that caused the run. Empty without a verdict.
-- void: the run was cancelled before any of its actions began. A later automatic run may replace it.
create table playbook_runs (
  id uuid constraint pk_playbook_runs primary key,
  playbook_id uuid not null,
  playbook_version integer not null,
  playbook_name text collate "C" not null,
  incident_id uuid constraint fk_playbook_runs_incident references incidents (id),
  status text collate "C" not null,
  requested_by text not null,
  on_behalf_of text,
  automatic boolean not null default false,
  variables json not null,
  incident json,
  steps_completed integer not null default 0,
  steps_failed integer not null default 0,
  steps_total integer not null,
  error text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  starts_at timestamptz(3),
  classification text collate "C" not null default '',
  void boolean not null default false,
  constraint fk_playbook_runs_version foreign key (playbook_id, playbook_version)
    references playbook_versions (playbook_id, version),
  constraint ck_playbook_runs_status check (
    status in ('running', 'waiting_approval', 'completed', 'failed', 'cancelled')),
  constraint ck_playbook_runs_ended check (
    (completed_at is not null) = (status in ('completed', 'failed', 'cancelled')))
);
create index ix_playbook_runs_playbook on playbook_runs (playbook_id, id);
create index ix_playbook_runs_playbook_status on playbook_runs (playbook_id, status, id);
create index ix_playbook_runs_incident on playbook_runs (incident_id, id) where incident_id is not null;
create index ix_playbook_runs_starts on playbook_runs (playbook_id, starts_at) where starts_at is not null;
create index ix_playbook_runs_status on playbook_runs (status, id);
-- At most one automatic run per version, incident and classification, even if events repeat. Void runs do not count.
create unique index uq_playbook_runs_automatic
  on playbook_runs (incident_id, playbook_id, playbook_version, classification) where automatic and not void;

-- The primary key ensures that a step has only one action. Steps of several runs may wait for the same action.
create table playbook_run_steps (
  run_id uuid not null constraint fk_playbook_run_steps_run references playbook_runs (id),
  position integer not null,
  name text collate "C" not null,
  status text collate "C" not null,
  action_id uuid constraint fk_playbook_run_steps_action references actions (id),
  error text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  constraint pk_playbook_run_steps primary key (run_id, position),
  constraint ck_playbook_run_steps_status check (
    status in ('running', 'waiting_approval', 'completed', 'failed', 'skipped', 'cancelled')),
  constraint ck_playbook_run_steps_ended check (
    (completed_at is null) = (status in ('running', 'waiting_approval'))),
  constraint ck_playbook_run_steps_action check (action_id is not null or status in ('failed', 'skipped'))
);
create index ix_playbook_run_steps_open on playbook_run_steps (run_id) where completed_at is null;
create index ix_playbook_run_steps_action on playbook_run_steps (action_id);
create index ix_playbook_run_steps_failed on playbook_run_steps (completed_at)
  where status = 'failed' and action_id is null;

-- Counts: triggers append changes, and a later statement adds the changes to the totals -----------

create table playbook_run_counts (
  playbook_id uuid not null,
  status text collate "C" not null,
  n bigint not null,
  constraint pk_playbook_run_counts primary key (playbook_id, status)
) with (fillfactor = 50);

create table playbook_run_count_deltas (
  id bigint generated always as identity constraint pk_playbook_run_count_deltas primary key,
  playbook_id uuid not null,
  status text collate "C" not null,
  n integer not null
);

create function count_new_playbook_runs() returns trigger language plpgsql as $$
begin
  insert into playbook_run_count_deltas (playbook_id, status, n)
  select playbook_id, status, count(*) from added group by playbook_id, status;
  return null;
end $$;
create trigger new_playbook_runs_are_counted after insert on playbook_runs
  referencing new table as added for each statement execute function count_new_playbook_runs();

create function count_playbook_runs() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.status = new.status then
    return null;
  end if;
  insert into playbook_run_count_deltas (playbook_id, status, n) values (old.playbook_id, old.status, -1);
  if tg_op = 'UPDATE' then
    insert into playbook_run_count_deltas (playbook_id, status, n) values (new.playbook_id, new.status, 1);
  end if;
  return null;
end $$;
create trigger playbook_runs_are_counted after delete or update of status on playbook_runs
  for each row execute function count_playbook_runs();
