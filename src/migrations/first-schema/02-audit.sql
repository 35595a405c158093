create table audit_log (
  id uuid constraint pk_audit_log primary key,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  details json not null,
  xid xid8 not null default pg_current_xact_id(),
  key_id text not null,
  mac bytea not null
);
create index ix_audit_log_xid on audit_log (xid);
create index ix_audit_log_subject_id on audit_log (subject_id);
create index ix_audit_log_actor on audit_log (actor, id);
create index ix_audit_log_action on audit_log (action, id);
-- Each process reads these few rows once per second.
create index ix_audit_log_head_accepted on audit_log (id) where action = 'audit.head_accepted';

create table audit_seals (
  seq bigint constraint pk_audit_seals primary key,
  audit_id uuid not null constraint uq_audit_seals_audit_id unique,
  hash bytea not null,
  key_id text not null
);

create table audit_chain (
  only_row boolean not null default true
    constraint pk_audit_chain primary key
    constraint ck_audit_chain_only_row check (only_row),
  seq bigint not null,
  hash bytea not null,
  cluster text not null,
  sealed_to pg_snapshot,
  key_id text not null,
  mac bytea not null,
  -- Time when the last verification found a changed trail. The MAC does not cover this column.
  found_invalid_at timestamptz
);

create table audit_retired_keys (
  key_id text constraint pk_audit_retired_keys primary key,
  sealed text not null
);

create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

-- Runs per statement, not per row, so that a change that matches no row is also rejected.
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change_of_audit();
create trigger audit_seals_is_append_only before update or delete or truncate on audit_seals
  for each statement execute function refuse_change_of_audit();
create trigger audit_chain_is_kept before delete or truncate on audit_chain
  for each statement execute function refuse_change_of_audit();
