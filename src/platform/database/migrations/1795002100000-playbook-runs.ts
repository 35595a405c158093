import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PlaybookRuns1795002100000 implements MigrationInterface {
  readonly name = 'PlaybookRuns1795002100000';

  async up(runner: QueryRunner): Promise<void> {
    await createRuns(runner);
    await linkActions(runner);
    await createSteps(runner);
    await countRuns(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table playbook_run_steps`);
    await runner.query(`drop trigger actions_keep_their_run on actions`);
    await runner.query(`drop function keep_run_of_action`);
    await runner.query(`alter table actions drop column playbook_run_id, drop column on_behalf_of`);
    await runner.query(`drop table playbook_runs, playbook_run_counts, playbook_run_count_deltas`);
    await runner.query(`drop function count_playbook_runs`);
  }
}

async function createRuns(runner: QueryRunner): Promise<void> {
  // incident: as it was when the run started, so that it does not change its mind while it waits.
  // due_at: there is something to do since then. Null while it waits for the end of an action: then nobody looks at it.
  // lease_until: until then one replica works on it. fence: the number of the latest claim.
  // wakes: goes up with each reason to look at it again, so that none is lost that comes while a replica works on it.
  // attempts: claims since it last moved.
  // on_behalf_of: of an automatic run, who brought the verdict about.
  await runner.query(`
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
      due_at timestamptz,
      lease_until timestamptz,
      fence integer not null default 0,
      wakes integer not null default 0,
      attempts integer not null default 0,
      started_at timestamptz(3) not null,
      completed_at timestamptz(3),
      constraint fk_playbook_runs_version foreign key (playbook_id, playbook_version)
        references playbook_versions (playbook_id, version),
      constraint ck_playbook_runs_status check (
        status in ('running', 'waiting_approval', 'completed', 'failed', 'cancelled')),
      constraint ck_playbook_runs_ended check (
        (completed_at is not null) = (status in ('completed', 'failed', 'cancelled'))),
      constraint ck_playbook_runs_rests check (
        completed_at is null or (due_at is null and lease_until is null))
    )`);
  await runner.query(`create index ix_playbook_runs_playbook on playbook_runs (playbook_id, id)`);
  await runner.query(`
    create index ix_playbook_runs_playbook_status on playbook_runs (playbook_id, status, id)`);
  await runner.query(`create index ix_playbook_runs_incident on playbook_runs (incident_id, id)
    where incident_id is not null`);
  await runner.query(`create index ix_playbook_runs_due on playbook_runs (due_at)
    where due_at is not null`);
  await runner.query(`create index ix_playbook_runs_status on playbook_runs (status, id)`);
  // However often a triage ends, and however often that is told: one automatic run of each version for an incident.
  await runner.query(`
    create unique index uq_playbook_runs_automatic on playbook_runs (incident_id, playbook_id, playbook_version)
      where automatic`);
}

async function linkActions(runner: QueryRunner): Promise<void> {
  await runner.query(`
    alter table actions
      add column playbook_run_id uuid
        constraint fk_actions_playbook_run references playbook_runs (id),
      add column on_behalf_of text`);
  // Who may approve an action depends on who asked for it. A trigger of its own, because few updates name these columns.
  await runner.query(`
    create function keep_run_of_action() returns trigger language plpgsql as $$
    begin
      if (new.playbook_run_id, new.on_behalf_of) is distinct from (old.playbook_run_id, old.on_behalf_of) then
        raise exception 'What an action was requested as cannot change.'
          using errcode = 'restrict_violation', constraint = 'tg_actions_as_requested';
      end if;
      return new;
    end $$`);
  await runner.query(`
    create trigger actions_keep_their_run before update of playbook_run_id, on_behalf_of on actions
      for each row execute function keep_run_of_action()`);
}

async function createSteps(runner: QueryRunner): Promise<void> {
  // A row for each step that was reached. The primary key decides that a step has its action once.
  await runner.query(`
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
      constraint uq_playbook_run_steps_action unique (action_id),
      constraint ck_playbook_run_steps_status check (
        status in ('running', 'waiting_approval', 'completed', 'failed', 'skipped', 'cancelled')),
      constraint ck_playbook_run_steps_ended check (
        (completed_at is null) = (status in ('running', 'waiting_approval'))),
      constraint ck_playbook_run_steps_action check (
        action_id is not null or status in ('failed', 'skipped'))
    )`);
  await runner.query(`create index ix_playbook_run_steps_open on playbook_run_steps (run_id)
    where completed_at is null`);
}

/** Totals are sums of few rows: each change appends what it did, and a fold sums that up (playbook-run-counts.ts). */
async function countRuns(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table playbook_run_counts (
      playbook_id uuid not null,
      status text collate "C" not null,
      n bigint not null,
      constraint pk_playbook_run_counts primary key (playbook_id, status)
    ) with (fillfactor = 50)`);
  await runner.query(`
    create table playbook_run_count_deltas (
      id bigint generated always as identity constraint pk_playbook_run_count_deltas primary key,
      playbook_id uuid not null,
      status text collate "C" not null,
      n integer not null
    )`);
  await runner.query(`
    create function count_playbook_runs() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.status = new.status then
        return null;
      end if;
      if tg_op <> 'INSERT' then
        insert into playbook_run_count_deltas (playbook_id, status, n) values (old.playbook_id, old.status, -1);
      end if;
      if tg_op <> 'DELETE' then
        insert into playbook_run_count_deltas (playbook_id, status, n) values (new.playbook_id, new.status, 1);
      end if;
      return null;
    end $$`);
  await runner.query(`
    create trigger playbook_runs_are_counted after insert or delete or update of status on playbook_runs
      for each row execute function count_playbook_runs()`);
}
