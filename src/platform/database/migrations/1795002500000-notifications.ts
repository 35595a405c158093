import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Notifications1795002500000 implements MigrationInterface {
  readonly name = 'Notifications1795002500000';

  async up(runner: QueryRunner): Promise<void> {
    await createChannels(runner);
    await createDeliveries(runner);
    await writeDeliveries(runner);
    await countDeliveries(runner);
    await rememberWhoWasTold(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table connectors drop column unhealthy_told_at`);
    await runner.query(`drop trigger domain_events_are_told on domain_events`);
    await runner.query(`drop function tell_channels`);
    await runner.query(
      `drop table notification_deliveries, notification_channels, notification_delivery_counts, notification_delivery_count_deltas`,
    );
    await runner.query(`drop function count_new_deliveries, count_deliveries`);
  }
}

async function createChannels(runner: QueryRunner): Promise<void> {
  // former_secret: the secret before the present one, which stays valid until former_secret_until.
  // failures: attempts that failed since the last delivery, and failing_since the time of the first of them.
  // name_key: the name as it is compared (channel-name.ts). paused_until: nothing is tried before. one_by_one_until: until then
  // one delivery at a time, because the receiver said that more are too many. unhealthy_since: it has failed for long.
  // unhealthy_told_at: when the others were told so; null when they were not, or were told that it works again.
  await runner.query(`
    create table notification_channels (
      id uuid constraint pk_notification_channels primary key,
      name text not null,
      name_key text not null,
      type text not null,
      enabled boolean not null,
      events text[] not null,
      min_severity text not null,
      config jsonb not null,
      secrets text,
      secret_names text[] not null default '{}',
      former_secret text,
      former_secret_until timestamptz(3),
      version integer not null default 1,
      failures integer not null default 0,
      failing_since timestamptz(3),
      last_error text,
      paused_until timestamptz,
      one_by_one_until timestamptz,
      unhealthy_since timestamptz(3),
      unhealthy_told_at timestamptz(3),
      created_by text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3),
      constraint ck_notification_channels_severity check (min_severity in ('low', 'medium', 'high', 'critical')),
      constraint ck_notification_channels_failing check (failures = 0 or failing_since is not null),
      constraint ck_notification_channels_deleted check (
        deleted_at is null or (secrets is null and former_secret is null and not enabled and config = '{}'))
    )`);
  await runner.query(`
    create unique index uq_notification_channels_name on notification_channels (name_key)
      where deleted_at is null`);
}

async function createDeliveries(runner: QueryRunner): Promise<void> {
  // No foreign keys: each would lock a row of the channel in every transaction that an event comes from.
  // position: the order of writing. due_at: not tried before. lease_until: until then one replica tries it, and fence is the
  // number of its claim. expires_at: the attempt that fails after it was the last.
  await runner.query(`
    create table notification_deliveries (
      id uuid constraint pk_notification_deliveries primary key,
      position bigint generated always as identity,
      channel_id uuid not null,
      event_id uuid not null,
      type text not null,
      subject_type text not null,
      subject_id text not null,
      payload jsonb not null,
      occurred_at timestamptz(3) not null,
      incident_id uuid,
      status text collate "C" not null default 'pending',
      attempts integer not null default 0,
      fence integer not null default 0,
      due_at timestamptz not null,
      lease_until timestamptz,
      expires_at timestamptz not null,
      last_error text,
      ended_at timestamptz(3),
      constraint uq_notification_deliveries_event unique (channel_id, event_id),
      constraint ck_notification_deliveries_status check (status in ('pending', 'delivered', 'dead')),
      constraint ck_notification_deliveries_ended check ((ended_at is null) = (status = 'pending'))
    )`);
  await runner.query(`
    create index ix_notification_deliveries_channel on notification_deliveries (channel_id, status, id)`);
  // Of incidents, and of what else events are about: nobody is to hear last that something is broken which works again.
  await runner.query(`
    create index ix_notification_deliveries_order on notification_deliveries
      (channel_id, (left(coalesce(incident_id::text, subject_id), 100)), position) where status = 'pending'`);
  await runner.query(`
    create index ix_notification_deliveries_incident on notification_deliveries (channel_id, incident_id)
      where incident_id is not null`);
  // What goes first. The claim has the same list (delivery-writes.repository.ts).
  await runner.query(`
    create index ix_notification_deliveries_urgent on notification_deliveries (channel_id, id)
      where status = 'pending'
        and type in ('kill_switch.activated', 'kill_switch.deactivated', 'action.pending_approval')`);
  await runner.query(`
    create index ix_notification_deliveries_dead on notification_deliveries (channel_id, ended_at)
      where status = 'dead'`);
}

/**
 * Whoever writes an event, in whichever statement, writes its deliveries: they commit with the change that the event tells,
 * and many events of one statement are one more statement. Nothing of an event can make it fail, because the change would
 * fail with it. Who was told of an incident is told how it goes on, also when its severity was lowered; of a new one nobody was.
 */
async function writeDeliveries(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create function tell_channels() returns trigger language plpgsql as $$
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
               else event.type = any(channel.events)
                 and (coalesce(about.severity
                        >= array_position(array['low', 'medium', 'high', 'critical'], channel.min_severity), true)
                   or event.type <> 'incident.created' and exists (
                        select from notification_deliveries earlier
                         where earlier.channel_id = channel.id and earlier.incident_id = about.incident_id)) end
       order by event.position
      on conflict do nothing;
      return null;
    end $$`);
  await runner.query(`
    create trigger domain_events_are_told after insert on domain_events
      referencing new table as new_events for each statement execute function tell_channels()`);
}

/** Totals are sums of few rows: each change appends what it did, and a fold sums that up (delivery-counts.ts). */
async function countDeliveries(runner: QueryRunner): Promise<void> {
  await runner.query(`
    create table notification_delivery_counts (
      channel_id uuid not null,
      status text collate "C" not null,
      n bigint not null,
      constraint pk_notification_delivery_counts primary key (channel_id, status)
    ) with (fillfactor = 50)`);
  await runner.query(`
    create table notification_delivery_count_deltas (
      id bigint generated always as identity constraint pk_notification_delivery_count_deltas primary key,
      channel_id uuid not null,
      status text collate "C" not null,
      n integer not null
    )`);
  await runner.query(`
    create function count_new_deliveries() returns trigger language plpgsql as $$
    begin
      insert into notification_delivery_count_deltas (channel_id, status, n)
      select channel_id, status, count(*) from added group by channel_id, status;
      return null;
    end $$`);
  await runner.query(`
    create trigger new_notification_deliveries_are_counted after insert on notification_deliveries
      referencing new table as added for each statement execute function count_new_deliveries()`);
  await runner.query(`
    create function count_deliveries() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.status = new.status then
        return null;
      end if;
      insert into notification_delivery_count_deltas (channel_id, status, n) values (old.channel_id, old.status, -1);
      if tg_op = 'UPDATE' then
        insert into notification_delivery_count_deltas (channel_id, status, n) values (new.channel_id, new.status, 1);
      end if;
      return null;
    end $$`);
  await runner.query(`
    create trigger notification_deliveries_are_counted after delete or update of status on notification_deliveries
      for each row execute function count_deliveries()`);
}

/** When others were told that a connector does not work; null when they were not, or were told that it works again. */
async function rememberWhoWasTold(runner: QueryRunner): Promise<void> {
  await runner.query(`alter table connectors add column unhealthy_told_at timestamptz(3)`);
  await runner.query(`
    update connectors set unhealthy_told_at = coalesce(last_checked_at, now())
     where health = 'unhealthy' and enabled`);
}
