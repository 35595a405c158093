import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events that every channel is told of but the one that they are about, by the release. */
const TO_ALL_OTHERS = ['notification_channel.unhealthy', 'notification_channel.recovered'];
const TO_ALL_OTHERS_BEFORE = ['notification_channel.unhealthy'];
/** How many events a channel could choose before `connector.recovered`. */
const EVENTS_BEFORE = 11;

export class Recoveries1795003000000 implements MigrationInterface {
  readonly name = 'Recoveries1795003000000';

  async up(runner: QueryRunner): Promise<void> {
    // When others were told that it does not work; null when they were not, or were told that it works again.
    await runner.query(`alter table connectors add column unhealthy_told_at timestamptz(3)`);
    await runner.query(`
      update connectors set unhealthy_told_at = coalesce(last_checked_at, now())
       where health = 'unhealthy' and enabled`);
    await runner.query(`
      alter table notification_channels add column unhealthy_told_at timestamptz(3)`);
    await runner.query(`
      update notification_channels set unhealthy_told_at = unhealthy_since where enabled`);
    // Who wanted all that there was wants all that there is.
    await runner.query(
      `update notification_channels set events = events || array['connector.recovered']
        where cardinality(events) = $1`,
      [EVENTS_BEFORE],
    );
    await tellChannels(runner, TO_ALL_OTHERS);
    // Not of incidents alone: nobody is to hear last that something is broken which works again.
    await orderDeliveriesBy(runner, `left(coalesce(incident_id::text, subject_id), 100)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await orderDeliveriesBy(runner, 'incident_id');
    await tellChannels(runner, TO_ALL_OTHERS_BEFORE);
    await runner.query(`
      update notification_channels set events = array_remove(events, 'connector.recovered')
       where 'connector.recovered' = any(events) and cardinality(events) > 1`);
    await runner.query(`alter table notification_channels drop column unhealthy_told_at`);
    await runner.query(`alter table connectors drop column unhealthy_told_at`);
  }
}

async function orderDeliveriesBy(runner: QueryRunner, what: string): Promise<void> {
  await runner.query(`drop index ix_notification_deliveries_order`);
  await runner.query(`
    create index ix_notification_deliveries_order on notification_deliveries (channel_id, (${what}), position)
      where status = 'pending'`);
}

/** As the migration of notifications has it, but for the events that go to all others. */
async function tellChannels(runner: QueryRunner, toAllOthers: readonly string[]): Promise<void> {
  const names = toAllOthers.map((name) => `'${name}'`).join(', ');
  await runner.query(`
    create or replace function tell_channels() returns trigger language plpgsql as $$
    begin
      insert into notification_deliveries
        (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, incident_id, due_at, expires_at)
      select (left(event.id::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, channel.id, event.id,
             event.type, event.subject_type, event.subject_id, event.payload, event.occurred_at,
             case when about.incident ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then about.incident::uuid end,
             now(), now() + interval '1 day'
        from new_events event
       cross join lateral (
         select case event.subject_type when 'incident' then event.subject_id
                  else event.payload ->> 'incident_id' end as incident,
                array_position(array['low', 'medium', 'high', 'critical'], event.payload ->> 'severity') as severity) about
        join notification_channels channel on channel.enabled
         and case when event.type in (${names}) then channel.id::text <> event.subject_id
               else event.type = any(channel.events)
                 and coalesce(about.severity
                   >= array_position(array['low', 'medium', 'high', 'critical'], channel.min_severity), true) end
       order by event.position
      on conflict do nothing;
      return null;
    end $$`);
}
