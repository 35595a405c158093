import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Resolutions1795002600000 implements MigrationInterface {
  readonly name = 'Resolutions1795002600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table incidents add column resolved_at timestamptz(3), add column resolved_by text,
        add column classification text collate "C"`);
    // What is resolved now was resolved last when its timeline says so: every release has written that entry.
    await runner.query(`
      update incidents i
         set classification = i.verdict ->> 'classification', resolved_at = last.at, resolved_by = last.actor
        from incidents known left join (
          select distinct on (incident_id) incident_id, at, actor from incident_timeline
           where event = 'resolved' order by incident_id, id desc) last
          on last.incident_id = known.id and known.status = 'resolved'
       where known.id = i.id and (i.verdict is not null or last.at is not null)`);
    await keepClassification(runner);
    await runner.query(`
      create index ix_incidents_resolved_at on incidents (resolved_at, id)
        where resolved_at is not null and deleted_at is null`);
    // Entries that there are already tell what they tell in words.
    await runner.query(`alter table incident_timeline add column details json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table incident_timeline drop column details`);
    await runner.query(`drop trigger incidents_keep_classification on incidents`);
    await runner.query(`drop function keep_incident_classification`);
    await runner.query(`
      alter table incidents drop column resolved_at, drop column resolved_by, drop column classification`);
  }
}

/**
 * The list is filtered by a column of its own: an index of an expression would leave each count to read the incidents. By
 * trigger, so that it is right whoever writes, such as a replica of the release before.
 */
async function keepClassification(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create function keep_incident_classification() returns trigger language plpgsql as $$
    begin
      new.classification := new.verdict ->> 'classification';
      return new;
    end $$`);
  await runner.query(`
    create trigger incidents_keep_classification before insert or update of verdict on incidents
      for each row when (new.verdict is not null or new.classification is not null)
        execute function keep_incident_classification()`);
  await runner.query(`
    create index ix_incidents_classification on incidents (classification, id)
      include (status, severity, incident_type, source)
      where classification is not null and deleted_at is null`);
}
