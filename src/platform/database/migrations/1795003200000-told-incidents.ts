import type { MigrationInterface, QueryRunner } from 'typeorm';

const NEW_EVENTS = ['incident.severity_changed', 'incident.deleted'];
/** How many events a channel could choose before these. */
const EVENTS_BEFORE = 12;

const BY_SEVERITY = `coalesce(about.severity
                   >= array_position(array['low', 'medium', 'high', 'critical'], channel.min_severity), true)`;
/** Who was told of an incident is told how it goes on, also when its severity was lowered. Of a new one nobody was. */
const OR_TOLD_BEFORE = `or event.type <> 'incident.created' and exists (
                     select from notification_deliveries earlier
                      where earlier.channel_id = channel.id and earlier.incident_id = about.incident_id)`;

export class ToldIncidents1795003200000 implements MigrationInterface {
  readonly name = 'ToldIncidents1795003200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index ix_notification_deliveries_incident on notification_deliveries (channel_id, incident_id)
        where incident_id is not null`);
    await tellChannels(runner, `(${BY_SEVERITY} ${OR_TOLD_BEFORE})`);
    // Who wanted all that there was wants all that there is.
    await runner.query(
      `update notification_channels set events = events || $2::text[] where cardinality(events) = $1`,
      [EVENTS_BEFORE, NEW_EVENTS],
    );
    // The name as it is compared (channel-name.ts).
    await runner.query(`alter table notification_channels add column name_key text`);
    await runner.query(`
      update notification_channels set name_key = rtrim(lower(normalize(name, NFKC)), ' .')`);
    await runner.query(`alter table notification_channels alter column name_key set not null`);
    await uniqueName(runner, 'name_key');
    // Deleted channels keep nothing of their configuration.
    await runner.query(`
      update notification_channels set config = '{}' where deleted_at is not null`);
    await deletedHave(
      runner,
      `secrets is null and former_secret is null and not enabled and config = '{}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await deletedHave(runner, 'secrets is null and former_secret is null and not enabled');
    await uniqueName(runner, 'name');
    await runner.query(`alter table notification_channels drop column name_key`);
    await runner.query(
      `update notification_channels
          set events = array(select event from unnest(events) as event where event <> all($1::text[]))
        where not events <@ $1::text[]`,
      [NEW_EVENTS],
    );
    await tellChannels(runner, BY_SEVERITY);
    await runner.query(`drop index ix_notification_deliveries_incident`);
  }
}

async function uniqueName(runner: QueryRunner, column: string): Promise<void> {
  await runner.query(`drop index uq_notification_channels_name`);
  await runner.query(`
    create unique index uq_notification_channels_name on notification_channels (${column})
      where deleted_at is null`);
}

async function deletedHave(runner: QueryRunner, what: string): Promise<void> {
  await runner.query(`
    alter table notification_channels drop constraint ck_notification_channels_deleted,
      add constraint ck_notification_channels_deleted check (deleted_at is null or (${what}))`);
}

/** As the migration of recoveries has it, but for who is told of an incident. */
async function tellChannels(runner: QueryRunner, isTold: string): Promise<void> {
  await runner.query(`
    create or replace function tell_channels() returns trigger language plpgsql as $$
    begin
      insert into notification_deliveries
        (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, incident_id, due_at, expires_at)
      select (left(event.id::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, channel.id, event.id,
             event.type, event.subject_type, event.subject_id, event.payload, event.occurred_at,
             about.incident_id, now(), now() + interval '1 day'
        from new_events event
       cross join lateral (
         select case event.subject_type when 'incident' then event.subject_id
                  else event.payload ->> 'incident_id' end as incident) named
       cross join lateral (
         select case when named.incident ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                  then named.incident::uuid end as incident_id,
                array_position(array['low', 'medium', 'high', 'critical'], event.payload ->> 'severity') as severity) about
        join notification_channels channel on channel.enabled
         and case when event.type in ('notification_channel.unhealthy', 'notification_channel.recovered')
               then channel.id::text <> event.subject_id
               else event.type = any(channel.events) and ${isTold} end
       order by event.position
      on conflict do nothing;
      return null;
    end $$`);
}
