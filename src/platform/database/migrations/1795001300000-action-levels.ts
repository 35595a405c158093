import type { MigrationInterface, QueryRunner } from 'typeorm';

const APPROVAL_LEVEL_STAYS = `new.approval_level is distinct from old.approval_level`;

/** The level is judged again by an approval, which may raise it: an action shows what it was approved at. */
const APPROVAL_LEVEL_RISES = `new.approval_level is distinct from old.approval_level
         and not coalesce(old.status = 'pending_approval' and new.status = 'pending'
                            and ${rank('new')} > ${rank('old')}, false)`;

export class ActionLevels1795001300000 implements MigrationInterface {
  readonly name = 'ActionLevels1795001300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(keepActionsAsRequested(APPROVAL_LEVEL_RISES));
    await runner.query(`create index ix_actions_requested_by on actions (requested_by, id)`);
    await runner.query(`create index ix_actions_approved_by on actions (approved_by, id)
      where approved_by is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_actions_requested_by, ix_actions_approved_by`);
    await runner.query(keepActionsAsRequested(APPROVAL_LEVEL_STAYS));
  }
}

function keepActionsAsRequested(levelChanges: string): string {
  return `
    create or replace function keep_actions_as_requested() returns trigger language plpgsql as $$
    begin
      if (new.id, new.incident_id, new.action_type, new.parameters::text, new.requested_by, new.requested_at,
          new.rollback_of, new.reason)
         is distinct from
         (old.id, old.incident_id, old.action_type, old.parameters::text, old.requested_by, old.requested_at,
          old.rollback_of, old.reason)
         or (${levelChanges}) then
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
    end $$`;
}

/** Null where there is no level. */
function rank(row: 'new' | 'old'): string {
  return `array_position(array['analyst', 'senior', 'manager'], ${row}.approval_level::text)`;
}
