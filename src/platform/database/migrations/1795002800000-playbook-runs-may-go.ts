import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PlaybookRunsMayGo1795002800000 implements MigrationInterface {
  readonly name = 'PlaybookRunsMayGo1795002800000';

  async up(runner: QueryRunner): Promise<void> {
    // An action keeps the id of its run for ever, and the audit trail tells which it was; the run itself may go one day.
    await runner.query(`alter table actions drop constraint fk_actions_playbook_run`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // Of actions whose run is gone it asks nothing: the way back must not fail because of them.
    await runner.query(`
      alter table actions add constraint fk_actions_playbook_run
        foreign key (playbook_run_id) references playbook_runs (id) not valid`);
  }
}
