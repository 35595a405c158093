import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Actions1795000800000 implements MigrationInterface {
  readonly name = 'Actions1795000800000';

  async up(runner: QueryRunner): Promise<void> {
    await createActions(runner);
    await refuseChanges(runner);
    await createCounts(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table actions, action_counts, action_count_deltas`);
    await runner.query(`drop function keep_actions_as_requested, count_actions`);
  }
}

async function createActions(runner: QueryRunner): Promise<void> {
  // phase: null while nobody works on it, claimed while a call may be made, accepted while the vendor works on it.
  // sent: set before the first byte of a call leaves; unset only by the run that knows that none did.
  // lease_until: until then nobody but whoever set it touches a pending action.
  await runner.query(`
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
      approval_comment text,
      rejected_by text,
      rejected_at timestamptz(3),
      rejection_reason text,
      executed_by text,
      executed_at timestamptz(3),
      result json,
      phase text,
      sent boolean not null default false,
      fence integer not null default 0,
      lease_until timestamptz,
      connector_id text,
      handle json,
      accepted_at timestamptz(3),
      constraint ck_actions_status check (
        status in ('pending', 'pending_approval', 'completed', 'failed', 'rejected')),
      constraint ck_actions_approval_level check (approval_level in ('analyst', 'senior', 'manager')),
      constraint ck_actions_phase check (
        phase is null or (status = 'pending' and phase in ('claimed', 'accepted') and connector_id is not null)),
      constraint ck_actions_lease check ((status = 'pending') = (lease_until is not null)),
      constraint ck_actions_pending_approval check (
        status <> 'pending_approval' or (approval_level is not null and approved_by is null)),
      constraint ck_actions_consent check (
        status not in ('pending', 'completed') or approval_level is null or approved_by is not null),
      constraint ck_actions_result check (status not in ('completed', 'failed') or result is not null),
      constraint ck_actions_rejected check (
        (status = 'rejected') = (rejected_by is not null and rejected_at is not null and rejection_reason is not null))
    )`);
  // An action is rolled back once; a rollback that failed or was discarded may be tried again.
  await runner.query(`
    create unique index uq_actions_rollback_of on actions (rollback_of)
      where status not in ('failed', 'rejected')`);
  await runner.query(`create index ix_actions_rollbacks on actions (rollback_of)
    where rollback_of is not null`);
  await runner.query(
    `create index ix_actions_lease on actions (lease_until) where status = 'pending'`,
  );
  await runner.query(`create index ix_actions_incident on actions (incident_id, id)
    where incident_id is not null`);
  await runner.query(`create index ix_actions_status on actions (status, id)`);
  await runner.query(`create index ix_actions_type on actions (action_type, id)`);
  await runner.query(`create index ix_actions_level on actions (approval_level, id)
    where approval_level is not null`);
  await runner.query(`create index ix_actions_executed_at on actions (executed_at, id)`);
  await runner.query(`
    create index ix_actions_executed_last on actions (executed_at desc nulls last, id desc)`);
}

/** What runs is what was approved, and what ended stays as it ended, whoever writes. */
async function refuseChanges(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create function keep_actions_as_requested() returns trigger language plpgsql as $$
    begin
      if (new.id, new.incident_id, new.action_type, new.parameters::text, new.approval_level, new.requested_by,
          new.requested_at, new.rollback_of, new.reason)
         is distinct from
         (old.id, old.incident_id, old.action_type, old.parameters::text, old.approval_level, old.requested_by,
          old.requested_at, old.rollback_of, old.reason) then
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
    end $$`);
  await runner.query(`
    create trigger actions_stay_as_requested before update on actions
      for each row execute function keep_actions_as_requested()`);
}

/** Totals are sums of a few hundred rows: each change appends what it did, and a fold sums that up (action-counts.ts). */
async function createCounts(runner: QueryRunner): Promise<void> {
  const dimensions = 'status, action_type, approval_level';
  await runner.query(`
    create table action_counts (
      status text collate "C" not null,
      action_type text collate "C" not null,
      approval_level text collate "C" not null,
      n bigint not null,
      constraint pk_action_counts primary key (${dimensions})
    ) with (fillfactor = 50)`);
  await runner.query(`
    create table action_count_deltas (
      id bigint generated always as identity constraint pk_action_count_deltas primary key,
      status text collate "C" not null,
      action_type text collate "C" not null,
      approval_level text collate "C" not null,
      n integer not null
    )`);
  await runner.query(`
    create function count_actions() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' and tg_op <> 'DELETE' and old.status = new.status then
        return null;
      end if;
      if tg_op <> 'INSERT' then
        insert into action_count_deltas (${dimensions}, n)
        values (old.status, old.action_type, coalesce(old.approval_level, 'none'), -1);
      end if;
      if tg_op <> 'DELETE' then
        insert into action_count_deltas (${dimensions}, n)
        values (new.status, new.action_type, coalesce(new.approval_level, 'none'), 1);
      end if;
      return null;
    end $$`);
  await runner.query(`
    create trigger actions_are_counted after insert or delete or update of status on actions
      for each row execute function count_actions()`);
}
