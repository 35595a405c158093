import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Steps of several runs may wait for one action. */
export class SharedActions1795003041000 implements MigrationInterface {
  readonly name = 'SharedActions1795003041000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table playbook_run_steps drop constraint uq_playbook_run_steps_action`,
    );
    await runner.query(
      `create index ix_playbook_run_steps_action on playbook_run_steps (action_id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    // The run that requested an action keeps it, in its first step with it; other steps count as skipped.
    await runner.query(`
      update playbook_run_steps step
         set action_id = null, status = 'skipped', completed_at = coalesce(step.completed_at, now())
       where action_id is not null and exists (
         select from playbook_run_steps other left join actions action on action.id = other.action_id
          where other.action_id = step.action_id
            and (coalesce(other.run_id = action.playbook_run_id, false), step.run_id, step.position)
              > (coalesce(step.run_id = action.playbook_run_id, false), other.run_id, other.position))`);
    await runner.query(`drop index ix_playbook_run_steps_action`);
    await runner.query(`alter table playbook_run_steps
      add constraint uq_playbook_run_steps_action unique (action_id)`);
  }
}
