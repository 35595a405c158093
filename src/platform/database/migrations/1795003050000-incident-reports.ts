import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IncidentReports1795003050000 implements MigrationInterface {
  readonly name = 'IncidentReports1795003050000';

  async up(runner: QueryRunner): Promise<void> {
    // json, not jsonb: an event is shown exactly as it came.
    await runner.query(`
      create table incident_reports (
        id uuid constraint pk_incident_reports primary key,
        incident_id uuid not null
          constraint fk_incident_reports_incident references incidents (id),
        at timestamptz(3) not null,
        source text not null,
        severity incident_severity not null,
        webhook_event_id uuid not null,
        raw_data json not null
      )`);
    await runner.query(
      `create index ix_incident_reports_incident on incident_reports (incident_id, id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table incident_reports`);
  }
}
