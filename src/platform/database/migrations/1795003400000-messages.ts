import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is urgent goes first, alike messages for people become one, and people choose from which severity on incidents are news. */
export class Messages1795003400000 implements MigrationInterface {
  readonly name = 'Messages1795003400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table notification_channels
        add column new_incident_min_severity text,
        add constraint ck_notification_channels_new_severity
          check (new_incident_min_severity in ('low', 'medium', 'high', 'critical'))`);
    await addColumnsOfDeliveries(runner);
    await runner.query(tellChannels(TOLD_NOW));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(tellChannels(TOLD_BEFORE));
    await runner.query(`
      drop index ix_notification_deliveries_urgency, ix_notification_deliveries_group, ix_notification_deliveries_carried`);
    await runner.query(`
      alter table notification_deliveries
        drop column urgency, drop column group_key, drop column held_until, drop column carried_by`);
    await runner.query(`drop function notification_urgency`);
    await runner.query(`
      create index ix_notification_deliveries_urgent on notification_deliveries (channel_id, id)
        where status = 'pending'
          and type in ('kill_switch.activated', 'kill_switch.deactivated', 'action.pending_approval')`);
    await runner.query(`alter table notification_channels drop column new_incident_min_severity`);
  }
}

async function addColumnsOfDeliveries(runner: QueryRunner): Promise<void> {
  // urgency: 0 is the most urgent; then by severity, from 1 (critical) to 4 (low). group_key: new incidents with the same key are
  // alike. held_until: waits for others that are alike. carried_by: the delivery whose message has this one in it.
  await runner.query(`
    alter table notification_deliveries
      add column urgency smallint not null default 2,
      add column group_key text,
      add column held_until timestamptz,
      add column carried_by uuid`);
  await runner.query(`
    create function notification_urgency(type text, severity text) returns smallint language sql immutable as $$
      select case
        when type in ('kill_switch.activated', 'kill_switch.deactivated', 'action.pending_approval', 'action.expiring') then 0
        else coalesce(array_position(array['critical', 'high', 'medium', 'low'], severity), 2) end::smallint $$`);
  await runner.query(`
    update notification_deliveries set urgency = notification_urgency(type, payload ->> 'severity') where status = 'pending'`);
  await runner.query(`drop index ix_notification_deliveries_urgent`);
  await runner.query(`
    create index ix_notification_deliveries_urgency on notification_deliveries (channel_id, urgency, id)
      where status = 'pending'`);
  await runner.query(`
    create index ix_notification_deliveries_group on notification_deliveries (channel_id, group_key, occurred_at)
      where group_key is not null`);
  await runner.query(`
    create index ix_notification_deliveries_carried on notification_deliveries (carried_by)
      where carried_by is not null`);
}

interface Told {
  readonly columns: string;
  readonly values: string;
  readonly joins: string;
  readonly condition: string;
}

const TOLD_BEFORE: Told = { columns: '', values: '', joins: '', condition: '' };

/**
 * An action that failed tells it itself, so people are not told of its step, too.
 *
 * The first new incident of a group in 10 minutes waits 2 seconds for the rest of its body, or not at all when it is critical.
 * After a message about the group the next ones wait longer, so that a wave makes few messages; a critical one waits 3 seconds.
 * So do the approvals that the runs of one playbook ask for: 10 seconds, and a minute after a message.
 */
const TOLD_NOW: Told = {
  columns: ', urgency, group_key, held_until',
  values: `,
             notification_urgency(event.type, event.payload ->> 'severity'), alike.group_key,
             case
               when alike.group_key is null then null
               when event.payload ->> 'severity' = 'critical' then case when told.messages > 0 then now() + interval '3 seconds' end
               when event.type <> 'incident.created'
               then now() + case when told.messages = 0 then interval '10 seconds' else interval '1 minute' end
               when told.messages = 0 then now() + interval '2 seconds'
               when told.messages = 1 then now() + interval '30 seconds'
               else now() + interval '5 minutes' end`,
  joins: `
       cross join lateral (
         select case
                  when channel.type not in ('slack', 'teams', 'email') then null
                  when event.type = 'incident.created' then event.payload ->> 'group'
                  when event.type in ('action.pending_approval', 'action.expiring') and event.payload ->> 'requested_by' like 'playbook:%'
                  then md5(concat_ws(' ', event.type, event.payload ->> 'action_type', event.payload ->> 'requested_by')) end as group_key) alike
       cross join lateral (
         select count(*) as messages from (
           select from notification_deliveries message
            where message.channel_id = channel.id and message.group_key = alike.group_key
              and message.occurred_at > now() - interval '10 minutes'
              and message.attempts > 0 and message.carried_by is null
            limit 2) as two) told`,
  condition: `
               and not (event.type = 'playbook.step_failed' and event.payload ->> 'action_id' is not null and channel.type <> 'webhook')
               and (channel.new_incident_min_severity is null
                 or event.type not in ('incident.created', 'incident.severity_changed')
                 or coalesce(
                      about.severity >= array_position(array['low', 'medium', 'high', 'critical'], channel.new_incident_min_severity)
                        and (event.type = 'incident.created' or about.severity
                          > array_position(array['low', 'medium', 'high', 'critical'], event.payload ->> 'previous_severity')),
                      true))`,
};

/** Nothing of an event can make it fail, because the change that the event tells would fail with it. */
function tellChannels({ columns, values, joins, condition }: Told): string {
  return `
    create or replace function tell_channels() returns trigger language plpgsql as $$
    begin
      insert into notification_deliveries
        (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, incident_id, due_at, expires_at${columns})
      select (left(event.id::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, channel.id, event.id,
             event.type, event.subject_type, event.subject_id, event.payload, event.occurred_at,
             about.incident_id, now(), now() + interval '1 day'${values}
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
               else event.type = any(channel.events)${condition}
                 and (coalesce(about.severity
                        >= array_position(array['low', 'medium', 'high', 'critical'], channel.min_severity), true)
                   or event.type <> 'incident.created' and exists (
                        select from notification_deliveries earlier
                         where earlier.channel_id = channel.id and earlier.incident_id = about.incident_id)) end${joins}
       order by event.position
      on conflict do nothing;
      return null;
    end $$`;
}
