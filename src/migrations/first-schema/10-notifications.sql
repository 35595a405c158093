-- audience: readers of the messages, from the definition of the type (channel-type.ts).
-- former_secret: the previous secret, valid until former_secret_until.
-- failures: failed attempts since the last delivery. failing_since: time of the first of these attempts.
-- unhealthy_reported_at: time of the event about a long failure. Null if no event was sent, or if the channel has
-- recovered since.
create table notification_channels (
  id uuid constraint pk_notification_channels primary key,
  name text not null,
  type text not null,
  audience text not null,
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
  unhealthy_reported_at timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  new_incident_min_severity text,
  constraint ck_notification_channels_audience check (audience in ('people', 'pager', 'programs')),
  constraint ck_notification_channels_severity check (min_severity in ('low', 'medium', 'high', 'critical')),
  constraint ck_notification_channels_new_severity check (
    new_incident_min_severity in ('low', 'medium', 'high', 'critical')),
  constraint ck_notification_channels_failing check (failures = 0 or failing_since is not null),
  constraint ck_notification_channels_deleted check (
    deleted_at is null or (secrets is null and former_secret is null and not enabled and config = '{}'))
);
create unique index uq_notification_channels_name on notification_channels (name) where deleted_at is null;

-- 128 places for programs, but 2 for people, because services for people accept about one message per second.
create function keep_lane_of_channel() returns trigger language plpgsql as $$
begin
  if new.deleted_at is null then
    insert into work_lanes (lane, kind, places)
    values ('notification.' || new.id, 'notification',
            case when not new.enabled then 0 when new.audience = 'programs' then 128 else 2 end)
    on conflict (lane) do update set places = excluded.places where work_lanes.places <> excluded.places;
  else
    delete from work_lanes where lane = 'notification.' || new.id;
    delete from work
     where id = any(array(select id from work where lane = 'notification.' || new.id order by id for update));
  end if;
  return null;
end $$;
create trigger channels_have_lanes after insert or update of enabled, deleted_at on notification_channels
  for each row execute function keep_lane_of_channel();

-- A pending delivery has a row in the table work, except a delivery whose message was redelivered inside another
-- message.
-- No foreign keys, because each would lock the row of the channel in every transaction that writes an event.
-- position: order of insertion. expires_at: an attempt that fails after this time is the last attempt.
-- attempts: while the delivery is pending, a value above 0 means that the members of its message are fixed. The table
-- work counts the attempts.
-- urgency: 0 is the most urgent; then by severity, from 1 (critical) to 4 (low).
-- group_key: deliveries with the same key can become one message.
-- held_until: until this time, the delivery waits for similar deliveries.
-- carried_by: the delivery whose message contains this delivery.
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
  expires_at timestamptz not null,
  last_error text,
  ended_at timestamptz(3),
  urgency smallint not null default 2,
  group_key text,
  held_until timestamptz,
  carried_by uuid,
  constraint uq_notification_deliveries_event unique (channel_id, event_id),
  constraint ck_notification_deliveries_status check (status in ('pending', 'delivered', 'dead')),
  constraint ck_notification_deliveries_ended check ((ended_at is null) = (status = 'pending'))
) with (fillfactor = 80);
create index ix_notification_deliveries_channel on notification_deliveries (channel_id, status, id);
create index ix_notification_deliveries_incident on notification_deliveries (channel_id, incident_id)
  where incident_id is not null;
create index ix_notification_deliveries_group on notification_deliveries (channel_id, group_key, occurred_at)
  where group_key is not null;
create index ix_notification_deliveries_carried on notification_deliveries (carried_by)
  where carried_by is not null;
create index ix_notification_deliveries_dead on notification_deliveries (channel_id, ended_at)
  where status = 'dead';

create function notification_urgency(type text, severity text) returns smallint language sql immutable as $$
  select case
    when type in ('kill_switch.activated', 'kill_switch.deactivated', 'action.pending_approval', 'action.expiring') then 0
    else coalesce(array_position(array['critical', 'high', 'medium', 'low'], severity), 2) end::smallint $$;

-- Maximum time that the later deliveries of a wave wait for the message of the first delivery.
create function wave_limit(type text) returns interval language sql immutable as $$
  select case type when 'incident.created' then interval '30 seconds' else interval '2 minutes' end $$;

-- Adds the deliveries of events, with their rows in the table work, in the transaction of the events, so that they
-- commit with the change. No content of an event may make the function fail, because the change would fail too.
-- 
-- A channel that was notified of an incident also gets its later events, even after its severity was lowered. A failed
-- action has its own event, so channels for people do not get the event about its playbook step. A step that fails in
-- each run is reported to people once in 6 hours. One report can reopen an incident and raise its severity: the message
-- about the reopening contains both changes.
-- 
-- The first new incident of a group waits for the other incidents of the same request. After a message, the next
-- incidents wait longer, so that a wave causes few messages. For people, approvals that the runs of one playbook
-- request wait in the same way. Any other approval of an action on mails waits 3 seconds, so that the message can say
-- how many mails the action would change.
-- 
-- A channel with a minimum severity is also notified of milder incidents that are judged malicious.
-- 
-- Each connection keeps the query plan of its first event, when the table may be empty. So each lookup of other
-- deliveries follows the order of one index or reads a range of it, which PostgreSQL chooses without statistics.
create function add_deliveries() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  lines text[];
  turns smallint[];
  starts timestamptz[];
  urgencies smallint[];
begin
  if not exists (select from notification_channels where enabled) then return null; end if;
  with created as (
  insert into notification_deliveries
    (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at,
     incident_id, expires_at, urgency, group_key, held_until)
  select (left(event.id::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, channel.id, event.id,
         event.type, event.subject_type, event.subject_id, event.payload, event.occurred_at,
         about.incident_id, now() + interval '1 day',
         notification_urgency(event.type, event.payload ->> 'severity'), alike.group_key,
         case
           when alike.group_key is null and event.type = 'action.pending_approval' and channel.audience <> 'programs'
             and event.payload ->> 'action_type' in ('quarantine_email', 'delete_email')
           then now() + interval '3 seconds'
           when alike.group_key is null or event.type = 'playbook.step_failed' then null
           when event.payload ->> 'severity' = 'critical'
           then case when sent.messages > 0 then now() + interval '3 seconds' end
           when event.type <> 'incident.created'
           then now() + case when sent.messages = 0 then interval '10 seconds' else interval '1 minute' end
           when sent.messages = 0 then now() + interval '2 seconds'
           when sent.messages = 1 then now() + interval '30 seconds'
           else now() + interval '5 minutes' end
    from new_events cross join lateral events_in(new_events.events) event
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
           else (event.type = any(channel.events)
               or event.type = 'incident.triaged' and 'incident.created' = any(channel.events)
                 and event.payload #>> '{verdict,classification}' = 'malicious'
                 and (about.severity
                     < array_position(array['low', 'medium', 'high', 'critical'], channel.new_incident_min_severity)
                   or event.payload ->> 'becomes_malicious' = 'true' and channel.audience = 'people'))
             and not (event.type = 'playbook.step_failed' and event.payload ->> 'action_id' is not null
                      and channel.audience <> 'programs')
             and not (event.type = 'incident.severity_changed' and event.payload ->> 'reopened' = 'true'
                      and channel.audience <> 'programs' and 'incident.reopened' = any(channel.events))
             and (channel.new_incident_min_severity is null
               or event.type not in ('incident.created', 'incident.severity_changed')
               or coalesce(
                    about.severity
                        >= array_position(array['low', 'medium', 'high', 'critical'], channel.new_incident_min_severity)
                      and (event.type = 'incident.created' or about.severity
                        > array_position(array['low', 'medium', 'high', 'critical'], event.payload ->> 'previous_severity')),
                    true))
             and (coalesce(about.severity
                    >= array_position(array['low', 'medium', 'high', 'critical'], channel.min_severity), true)
               or event.type <> 'incident.created' and coalesce((
                    select true from notification_deliveries earlier
                     where earlier.channel_id = channel.id
                       and earlier.incident_id between about.incident_id and about.incident_id
                     order by earlier.incident_id limit 1), false)) end
   cross join lateral (
     select case
              when event.type = 'incident.created' and channel.audience = 'people'
              then event.payload ->> 'group'
              when event.type = 'incident.triaged' and channel.audience = 'people'
                and not 'incident.triaged' = any(channel.events)
              then md5(concat_ws(' ', event.type, event.payload ->> 'source'))
              when event.type in ('action.pending_approval', 'action.expiring') and channel.audience = 'people'
                and event.payload ->> 'requested_by' like 'playbook:%'
              then md5(concat_ws(' ', event.type, event.payload ->> 'requested_by'))
              when event.type = 'playbook.step_failed' and channel.audience <> 'programs'
              then md5(concat_ws(' ', event.type, event.payload ->> 'playbook', event.payload ->> 'playbook_version',
                                 event.payload ->> 'step', event.payload ->> 'severity' = 'critical'))
            end as group_key) alike
   cross join lateral (
     select count(*) as messages from (
       select from notification_deliveries message
        where alike.group_key is not null
          and message.channel_id = channel.id and message.group_key = alike.group_key
          and message.occurred_at > now() - interval '10 minutes'
          and message.attempts > 0 and message.carried_by is null
        order by message.occurred_at limit 2) as two) sent
   where event.type <> 'playbook.step_failed' or alike.group_key is null or not exists (
     select from notification_deliveries message
      where message.channel_id = channel.id and message.group_key = alike.group_key
        and message.occurred_at > now() - interval '6 hours' and message.status <> 'dead')
   order by new_events.position, event.n, channel.id
  on conflict do nothing
  returning *),
  placed as materialized (
    select *, row_number() over (partition by line order by position) as in_line,
           min(urgency) over (partition by line order by position desc) as turn,
           min(coalesce(held_until, now())) over (
             partition by line order by position desc rows between unbounded preceding and 1 preceding) as wanted_at
      from (select *, channel_id || ' ' || left(coalesce(incident_id::text, subject_id), 100) as line from created) as named),
  -- Locks the last row of each line: a transaction that ends this row waits, and then sees the added rows.
  before as materialized (
    select line, urgency from work
     where died_at is null and id = any(array(
       select last.id
         from (select distinct line from placed) as added
        cross join lateral (
          select id from work
           where kind = 'notification' and line between added.line and added.line and died_at is null
           order by line desc, id desc limit 1) as last))
     order by id for key share),
  added as (
    insert into work (kind, ref, lane, line, urgency, ready, due_at)
    select 'notification', placed.id, 'notification.' || channel_id, placed.line, turn,
           not waits and start <= now(), case when waits then 'infinity' else start end
      from placed left join before on before.line = placed.line
     cross join lateral (
       select before.line is not null or in_line > 1 as waits, least(wanted_at, case
         when held_until is null then now()
         when payload ->> 'severity' is distinct from 'critical' and exists (
           select from notification_deliveries first
            where first.channel_id = placed.channel_id and first.group_key = placed.group_key
              and first.occurred_at > now() - interval '10 minutes' and first.status = 'pending'
              and first.held_until > now() and first.carried_by is null and first.attempts = 0 and first.urgency <> 1)
         then greatest(held_until, occurred_at + wave_limit(type))
         else held_until end) as start) as turn_in_line
     order by position)
  select array_agg(line), array_agg(turn), array_agg(start), array_agg(urgency)
    into lines, turns, starts, urgencies
    from (
      select before.line, before.urgency, min(placed.urgency) as turn, min(coalesce(held_until, now())) as start
        from placed join before on before.line = placed.line group by before.line, before.urgency) as behind;

  if lines is null then return null; end if;
  -- A separate statement, because the first statement may have waited for the end of an attempt.
  update work
     set urgency = least(work.urgency, earlier.turn),
         due_at = case when work.ready and work.urgency > earlier.turn then now()
                       else least(work.due_at, earlier.start) end
    from (
      select one.id, min(turn) as turn, min(one.start) as start
        from unnest(lines, turns, starts, urgencies) as behind (line, turn, start, urgency)
       cross join lateral (
         (select id, behind.start
            from (
              select * from work
               where kind = 'notification' and line between behind.line and behind.line and died_at is null
               order by line, id limit 1) as head
           where not ready and due_at < 'infinity' and worker is null and attempts = 0 and due_at > behind.start
             and exists (
               select from notification_deliveries held
                where held.id = head.ref and held.held_until is not null and held.attempts = 0))
         union all
         (select id, null from work
           where behind.urgency > behind.turn and urgency > behind.turn
             and kind = 'notification' and line between behind.line and behind.line and died_at is null)) as one
       group by one.id order by one.id) as earlier
   where work.id = earlier.id;
  return null;
end $$;
create trigger domain_events_have_deliveries after insert on domain_events
  referencing new table as new_events for each statement execute function add_deliveries();

-- Counts: triggers append changes, and a later statement adds the changes to the totals -----------

create table notification_delivery_counts (
  channel_id uuid not null,
  status text collate "C" not null,
  n bigint not null,
  constraint pk_notification_delivery_counts primary key (channel_id, status)
) with (fillfactor = 50);

create table notification_delivery_count_deltas (
  id bigint generated always as identity constraint pk_notification_delivery_count_deltas primary key,
  channel_id uuid not null,
  status text collate "C" not null,
  n integer not null
);

create function count_new_deliveries() returns trigger language plpgsql as $$
begin
  insert into notification_delivery_count_deltas (channel_id, status, n)
  select channel_id, status, count(*) from added group by channel_id, status;
  return null;
end $$;
create trigger new_notification_deliveries_are_counted after insert on notification_deliveries
  referencing new table as added for each statement execute function count_new_deliveries();

create function count_changed_deliveries() returns trigger language plpgsql as $$
begin
  insert into notification_delivery_count_deltas (channel_id, status, n)
  select channel_id, status, sum(n) from (
    select channel_id, status, 1 as n from added
    union all
    select channel_id, status, -1 as n from removed) as change
   group by channel_id, status having sum(n) <> 0;
  return null;
end $$;
create trigger changed_notification_deliveries_are_counted after update on notification_deliveries
  referencing old table as removed new table as added
  for each statement execute function count_changed_deliveries();

create function count_removed_deliveries() returns trigger language plpgsql as $$
begin
  insert into notification_delivery_count_deltas (channel_id, status, n)
  select channel_id, status, -count(*) from removed group by channel_id, status;
  return null;
end $$;
create trigger removed_notification_deliveries_are_counted after delete on notification_deliveries
  referencing old table as removed for each statement execute function count_removed_deliveries();
