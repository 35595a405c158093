import { SYSTEM, UNDECIDED } from '../actions/action.js';
import type { AttentionKind } from './attention.js';

/** Where the items of a kind come from. All but the name of the table is SQL over its rows. */
interface Source {
  readonly from: string;
  readonly where: readonly string[];
  readonly subject: string;
  readonly name: string;
  readonly reason: string;
  readonly at: string;
  readonly link: string;
  readonly incident?: string;
  /** What has an index, newest first. */
  readonly order: string;
}

/** Of each kind that many are looked for; as many stand for more. */
export const MOST_OF_A_KIND = 1_000;

/** The values of the statement. */
export const PARAMETERS = { kinds: '$1::text[]', subject: '$2::text', since: '$3', firstId: '$4' };
const { since, firstId } = PARAMETERS;

/** A tool that delivered this often has a usual gap. */
const FEWEST_RECEIPTS = 5;
const LOOKED_AT = 50;

const utc = (time: string) => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')`;

const failedAction = (...conditions: string[]): Source => ({
  from: 'actions x',
  where: [
    `x.status = 'failed'`,
    `x.id >= ${firstId}`,
    ...conditions,
    // Somebody has done it since, or has undone what may have happened.
    `not exists (
      select from actions later
       where later.target_hash = x.target_hash and later.action_type = x.action_type and later.id > x.id
         and later.status = 'completed')`,
    `not exists (select from actions undone where undone.rollback_of = x.id and undone.status = 'completed')`,
  ],
  subject: `'act-' || x.id`,
  name: 'x.action_type',
  reason: `coalesce(x.result->>'message', '')`,
  at: 'coalesce(x.executed_at, x.requested_at)',
  link: `'/api/actions/act-' || x.id`,
  incident: 'x.incident_id',
  order: 'x.id desc',
});

export const SOURCES: Readonly<Record<AttentionKind, Source>> = {
  // Where the action of a step failed, the action is the item.
  playbook_step_failed: {
    from: 'playbook_run_steps x join playbook_runs run on run.id = x.run_id',
    where: [
      `x.status = 'failed'`,
      'x.action_id is null',
      `x.completed_at >= ${since}`,
      `not exists (
        select from playbook_run_steps later
         where later.run_id = x.run_id and later.position > x.position and later.status = 'failed' and later.action_id is null)`,
    ],
    subject: 'x.run_id::text',
    name: `run.playbook_name || ': ' || x.name`,
    reason: `coalesce(x.error, '')`,
    at: 'x.completed_at',
    link: `'/api/playbooks/' || run.playbook_id || '/runs/' || x.run_id`,
    incident: 'run.incident_id',
    order: 'x.completed_at desc',
  },
  playbook_runs_rate_limited: {
    from: `playbooks x cross join lateral (
      select count(*) as n, min(started_at) as first, max(starts_at) as last
        from playbook_runs
       where playbook_id = x.id and starts_at > now() and completed_at is null) as waiting`,
    where: ['waiting.n > 0'],
    subject: 'x.id::text',
    name: 'x.name',
    reason: `waiting.n || ' automatic runs wait, the last until ' || ${utc('waiting.last')} || ': more than PLAYBOOK_RUNS_PER_HOUR were to begin within an hour.'`,
    at: 'waiting.first',
    link: `'/api/playbooks/' || x.id || '/runs'`,
    order: 'waiting.first desc',
  },
  action_failed: failedAction(`coalesce(x.result->>'code', '') <> 'outcome_unknown'`),
  action_outcome_unknown: failedAction(`x.result->>'code' = 'outcome_unknown'`),
  approval_expired: {
    from: 'actions x join incidents i on i.id = x.incident_id',
    where: [
      `x.status = 'rejected'`,
      `x.id >= ${firstId}`,
      `x.rejected_by = '${SYSTEM}'`,
      `starts_with(x.rejection_reason, '${UNDECIDED}')`,
      `i.status <> 'resolved'`,
      `not exists (
        select from actions later
         where later.target_hash = x.target_hash and later.action_type = x.action_type and later.id > x.id
           and later.status in ('pending', 'pending_approval', 'completed'))`,
    ],
    subject: `'act-' || x.id`,
    name: 'x.action_type',
    reason: 'x.rejection_reason',
    at: 'x.rejected_at',
    link: `'/api/actions/act-' || x.id`,
    incident: 'x.incident_id',
    order: 'x.id desc',
  },
  triage_failed: {
    from: 'triage_runs x join incidents i on i.id = x.incident_id',
    where: [
      `x.status = 'failed'`,
      `x.id >= ${firstId}`,
      `i.status <> 'resolved'`,
      'not i.verdict_by_person',
      'not exists (select from triage_runs later where later.incident_id = x.incident_id and later.id > x.id)',
    ],
    subject: 'x.id::text',
    name: `'triage'`,
    reason: `coalesce(x.error->>'message', '')`,
    at: 'x.completed_at',
    link: `'/api/incidents/' || x.incident_id || '/triage/' || x.id`,
    incident: 'x.incident_id',
    order: 'x.id desc',
  },
  webhook_event_failed: {
    from: 'webhook_events x',
    where: [`x.status = 'failed'`, `x.id >= ${firstId}`],
    subject: 'x.id::text',
    name: 'x.source',
    reason: `coalesce(x.error, '')`,
    at: 'coalesce(x.processed_at, x.received_at)',
    link: `'/api/webhook-events/' || x.id`,
    order: 'x.id desc',
  },
  resolved_incident_reported: {
    from: 'incident_timeline x join incidents i on i.id = x.incident_id',
    where: [
      `x.event = 'update_of_resolved'`,
      `x.id >= ${firstId}`,
      `i.status = 'resolved'`,
      'x.at >= i.resolved_at',
      `not exists (
        select from incident_timeline later
         where later.incident_id = x.incident_id and later.id > x.id and later.event = 'update_of_resolved')`,
    ],
    subject: 'x.incident_id::text',
    name: 'i.source',
    reason: 'x.summary',
    at: 'x.at',
    link: `'/api/incidents/' || x.incident_id || '/reports'`,
    incident: 'x.incident_id',
    order: 'x.id desc',
  },
  webhook_source_silent: {
    from: `webhook_sources x cross join lateral (
      select max(received_at) as last, count(*) as receipts,
             percentile_cont(0.5) within group (order by gap) as gap
        from (
          select received_at, received_at - lag(received_at) over (order by received_at) as gap
            from unnest(array['queued', 'processed', 'duplicate', 'updated', 'failed']) as one (status)
           cross join lateral (
             select e.id, e.received_at from webhook_events e
              where e.source = x.source and e.status = one.status order by e.id desc limit ${LOOKED_AT}) as e
           order by id desc limit ${LOOKED_AT}) as receipt) as usual`,
    where: [
      'x.enabled',
      `usual.receipts >= ${FEWEST_RECEIPTS}`,
      `now() - usual.last > greatest(interval '6 hours', 10 * usual.gap)`,
    ],
    subject: 'x.source',
    name: 'x.source',
    reason: `'Nothing has come since ' || ${utc('usual.last')} || '.'`,
    at: 'usual.last',
    link: `'/api/webhooks/' || x.source`,
    order: 'usual.last desc',
  },
  connector_unhealthy: {
    from: 'connectors x',
    where: ['x.enabled', 'x.deleted_at is null', 'x.unhealthy_told_at is not null'],
    subject: 'x.id::text',
    name: 'x.name',
    reason: `coalesce(x.health_message, '')`,
    at: 'x.unhealthy_told_at',
    link: `'/api/connectors/' || x.id`,
    order: 'x.unhealthy_told_at desc',
  },
  notification_channel_unhealthy: {
    from: 'notification_channels x',
    where: ['x.enabled', 'x.deleted_at is null', 'x.unhealthy_since is not null'],
    subject: 'x.id::text',
    name: 'x.name',
    reason: `coalesce(x.last_error, '')`,
    at: 'x.unhealthy_since',
    link: `'/api/notification-channels/' || x.id`,
    order: 'x.unhealthy_since desc',
  },
  notifications_dead: {
    from: `notification_channels x
      left join attention_marks done on done.kind = 'notifications_dead' and done.subject = x.id::text
      cross join lateral (
        select count(*) as n, max(ended_at) as last, (array_agg(last_error order by ended_at desc))[1] as error
          from (
            select ended_at, last_error from notification_deliveries
             where channel_id = x.id and status = 'dead' and ended_at >= ${since}
               and (done.at is null or ended_at > done.at)
             order by ended_at desc limit ${MOST_OF_A_KIND}) as delivery) as dead`,
    where: ['x.deleted_at is null', 'dead.n > 0'],
    subject: 'x.id::text',
    name: 'x.name',
    reason: `dead.n || ' could not be delivered. The last one: ' || coalesce(dead.error, 'no error')`,
    at: 'dead.last',
    link: `'/api/notification-channels/' || x.id || '/deliveries?status=dead'`,
    order: 'dead.last desc',
  },
};
