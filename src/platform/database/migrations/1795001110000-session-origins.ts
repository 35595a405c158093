import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionOrigins1795001110000 implements MigrationInterface {
  readonly name = 'SessionOrigins1795001110000';

  async up(runner: QueryRunner): Promise<void> {
    // By which users know their sessions from those of others. Those that there are already tell neither.
    await runner.query(`
      alter table sessions
        add column address text,
        add column user_agent text,
        add constraint ck_sessions_user_agent check (length(user_agent) <= 256)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table sessions drop column address, drop column user_agent`);
  }
}
