-- A pending action has a row in the table work, which shows its progress.
-- connector_id: the connector that executed the action.
-- playbook_run_id: not a foreign key. The action keeps the id of its run after the run is deleted.
-- target_hash: SHA-256 of the normal form of the target, or of all parameters if the action type has no target.
-- authors: people who wrote the playbook version of an automatic run or switched that version on. They count as
-- requesters.
-- reminded_at: last time when approvers were reminded that the action expires soon.
create table actions (
  id uuid constraint pk_actions primary key,
  incident_id uuid constraint fk_actions_incident references incidents (id),
  action_type text collate "C" not null,
  parameters json not null,
  status text collate "C" not null,
  approval_level text collate "C",
  requested_by text not null,
  requested_at timestamptz(3) not null,
  rollback_of uuid constraint fk_actions_rollback_of references actions (id),
  reason text,
  approved_by text,
  approved_at timestamptz(3),
  comment text,
  rejected_by text,
  rejected_at timestamptz(3),
  rejection_reason text,
  rejection_code text,
  executed_by text,
  executed_at timestamptz(3),
  result json,
  connector_id text,
  playbook_run_id uuid,
  on_behalf_of text,
  target_hash bytea,
  reminded_at timestamptz,
  updated_at timestamptz(3) not null,
  authors json,
  preview json,
  constraint ck_actions_status check (
    status in ('pending', 'pending_approval', 'completed', 'failed', 'rejected')),
  constraint ck_actions_approval_level check (approval_level in ('analyst', 'senior', 'manager')),
  constraint ck_actions_pending_approval check (
    status <> 'pending_approval' or (approval_level is not null and approved_by is null)),
  constraint ck_actions_consent check (
    status not in ('pending', 'completed') or approval_level is null or approved_by is not null),
  constraint ck_actions_result check (status not in ('completed', 'failed') or result is not null),
  constraint ck_actions_rejected check (
    (status = 'rejected') = (rejected_by is not null and rejected_at is not null and rejection_reason is not null)),
  constraint ck_actions_rejection_code check (
    rejection_code is null or (rejection_code = 'expired' and status = 'rejected'))
);
-- An action can be rolled back once. If the rollback failed or was rejected, another rollback can be requested.
create unique index uq_actions_rollback_of on actions (rollback_of) where status not in ('failed', 'rejected');
create index ix_actions_rollbacks on actions (rollback_of) where rollback_of is not null;
create index ix_actions_incident on actions (incident_id, id) where incident_id is not null;
create index ix_actions_status on actions (status, id);
create index ix_actions_type on actions (action_type, id);
create index ix_actions_level on actions (approval_level, id) where approval_level is not null;
create index ix_actions_executed_at on actions (executed_at, id);
create index ix_actions_requested_by on actions (requested_by, id);
create index ix_actions_approved_by on actions (approved_by, id) where approved_by is not null;
create index ix_actions_target on actions (target_hash, action_type, id) where target_hash is not null;
create index ix_actions_updated_at on actions (updated_at, id);

create function date_action_update() returns trigger language plpgsql as $$
begin
  new.updated_at := greatest(new.requested_at, new.approved_at, new.rejected_at, new.executed_at);
  return new;
end $$;
create trigger actions_date_updates before insert or update on actions
  for each row execute function date_action_update();

-- Each connector has two lanes: one for calls that execute actions, and one for questions about actions.
create function add_lanes_of_connector() returns trigger language plpgsql as $$
begin
  insert into work_lanes (lane, kind, places)
  values ('action.' || new.id, 'action', 8), ('ask.' || new.id, 'ask', 8) on conflict do nothing;
  return null;
end $$;
create trigger connectors_have_lanes after insert on connectors
  for each row execute function add_lanes_of_connector();

-- Protection against changes ----------------------------------------------------------------------

-- These rules hold for every writer: the executed action is the approved action, and an ended action never changes.
-- Only an approval may change the level, and only to a higher level, because an action shows the level at which it was
-- approved.
create function keep_actions_as_requested() returns trigger language plpgsql as $$
begin
  if (new.id, new.incident_id, new.action_type, new.parameters::text, new.requested_by, new.requested_at,
      new.rollback_of, new.reason)
     is distinct from
     (old.id, old.incident_id, old.action_type, old.parameters::text, old.requested_by, old.requested_at,
      old.rollback_of, old.reason)
     or (new.approval_level is distinct from old.approval_level
         and not coalesce(
           old.status = 'pending_approval' and new.status = 'pending'
             and array_position(array['analyst', 'senior', 'manager'], new.approval_level::text)
               > array_position(array['analyst', 'senior', 'manager'], old.approval_level::text),
           false)) then
    raise exception 'What an action was requested as cannot change.'
      using errcode = 'restrict_violation', constraint = 'tg_actions_as_requested';
  end if;
  if old.approved_by is not null
     and (new.approved_by, new.approved_at) is distinct from (old.approved_by, old.approved_at) then
    raise exception 'An approval cannot change.'
      using errcode = 'restrict_violation', constraint = 'tg_actions_as_approved';
  end if;
  if old.status in ('completed', 'failed', 'rejected') then
    raise exception 'An action that has ended cannot change.'
      using errcode = 'restrict_violation', constraint = 'tg_actions_ended';
  end if;
  if new.status = 'pending_approval' and old.status <> 'pending_approval' then
    raise exception 'An action is approved once.'
      using errcode = 'restrict_violation', constraint = 'tg_actions_approved_once';
  end if;
  return new;
end $$;
create trigger actions_stay_as_requested before update on actions
  for each row execute function keep_actions_as_requested();

-- These columns decide who may approve an action. A separate trigger, because few updates name these columns.
create function keep_run_of_action() returns trigger language plpgsql as $$
begin
  if (new.playbook_run_id, new.on_behalf_of, new.authors::text)
    is distinct from (old.playbook_run_id, old.on_behalf_of, old.authors::text) then
    raise exception 'What an action was requested as cannot change.'
      using errcode = 'restrict_violation', constraint = 'tg_actions_as_requested';
  end if;
  return new;
end $$;
create trigger actions_keep_their_run before update of playbook_run_id, on_behalf_of, authors on actions
  for each row execute function keep_run_of_action();

-- Counts: triggers append changes, and a later statement adds the changes to the totals -----------

create table action_counts (
  status text collate "C" not null,
  action_type text collate "C" not null,
  approval_level text collate "C" not null,
  n bigint not null,
  constraint pk_action_counts primary key (status, action_type, approval_level)
) with (fillfactor = 50);

create table action_count_deltas (
  id bigint generated always as identity constraint pk_action_count_deltas primary key,
  status text collate "C" not null,
  action_type text collate "C" not null,
  approval_level text collate "C" not null,
  n integer not null
);

create function count_new_actions() returns trigger language plpgsql as $$
begin
  insert into action_count_deltas (status, action_type, approval_level, n)
  select status, action_type, coalesce(approval_level, 'none'), count(*) from added
   group by status, action_type, approval_level;
  return null;
end $$;
create trigger new_actions_are_counted after insert on actions
  referencing new table as added for each statement execute function count_new_actions();

create function count_actions() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.status = new.status then
    return null;
  end if;
  insert into action_count_deltas (status, action_type, approval_level, n)
  values (old.status, old.action_type, coalesce(old.approval_level, 'none'), -1);
  if tg_op = 'UPDATE' then
    insert into action_count_deltas (status, action_type, approval_level, n)
    values (new.status, new.action_type, coalesce(new.approval_level, 'none'), 1);
  end if;
  return null;
end $$;
create trigger actions_are_counted after delete or update of status on actions
  for each row execute function count_actions();
