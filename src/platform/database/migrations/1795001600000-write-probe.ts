import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tells whether writes succeed, which a read of a server with a full disk does not. */
export class WriteProbe1795001600000 implements MigrationInterface {
  readonly name = 'WriteProbe1795001600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table write_probe (
        id uuid constraint pk_write_probe primary key,
        filler text not null
      ) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0)`);
    // A row that fills its page: writing one makes the file grow, which is what a full disk refuses.
    await runner.query(`alter table write_probe alter column filler set storage plain`);
    await runner.query(`
      create function probe_writes() returns void language plpgsql as $$
      begin
        insert into write_probe values (gen_random_uuid(), repeat('.', 8000));
        raise exception 'taken back' using errcode = 'ITS00';
      exception when sqlstate 'ITS00' then
        -- The row is gone again, and vacuum gives its page back.
        null;
      end $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop function probe_writes()`);
    await runner.query(`drop table write_probe`);
  }
}
