import { REPEATABLE_TYPES } from '../action-catalogue/action-types.js';
import { SECRETS_LOST } from '../targets/target-rows.js';
import type { Role } from '../platform/access/roles.js';
import { sortWords } from '../platform/paging/page.js';

/** Kind of failure that nobody was notified of. Fields without a comment are SQL; `x` is the main table. */
interface Kind {
  /** Minimum role to mark an item as done. Default: analyst. */
  readonly role?: Role;
  readonly adminOnly?: true;
  readonly from: string;
  /** True if items are found and ordered by `x.id`, which begins with the creation time. Default: by `at`. */
  readonly byId?: true;
  readonly where: readonly string[];
  /** SQL of the subject. Default: `x.id`. */
  readonly subject?: string;
  /** SQL of the name. Default: `x.name`. */
  readonly name?: string;
  readonly reason: string;
  readonly at: string;
  readonly link: string;
  readonly incident?: string;
}

/** Maximum number of items counted per kind. A count with this value means this number or more. */
export const MOST_OF_A_KIND = 1_000;

export const ATTENTION_SORTS = sortWords('urgency', 'at', 'created_at', 'name');

/** Number of items of each kind that come first in the order by urgency, so that each kind is visible. */
export const FIRST_OF_A_KIND = 3;

const SINCE = '$3';

/** Minimum number of webhook events from which the usual time between events of a source is computed. */
const FEWEST_RECEIPTS = 5;
const LOOKED_AT = 50;

const utc = (time: string) => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')`;

/** Condition: no later action in `statuses` repeats the action. Equal messages for two incidents are no repetition. */
const isNotRepeated = (statuses: string, type = 'x.action_type') => `not exists (
      select from actions later
       where later.target_hash = x.target_hash and later.action_type = ${type} and later.id > x.id
         and later.status in (${statuses})
         and (later.action_type not in (${REPEATABLE}) or later.incident_id is not distinct from x.incident_id))`;
const REPEATABLE = REPEATABLE_TYPES.map((type) => `'${type}'`).join(', ');
const REQUESTED_AGAIN = `'pending', 'pending_approval', 'completed'`;

const ACTION = {
  from: 'actions x',
  byId: true,
  subject: `'act-' || x.id`,
  name: 'x.action_type',
  link: `'/api/actions/act-' || x.id`,
  incident: 'x.incident_id',
} as const;

const failedAction = (condition: string): Kind => ({
  ...ACTION,
  where: [
    `x.status = 'failed'`,
    condition,
    isNotRepeated(`'completed'`),
    // A failed action may have had an effect. The action is not listed if a person rolled back that effect.
    `not exists (select from actions undone where undone.rollback_of = x.id and undone.status = 'completed')`,
  ],
  reason: `coalesce(x.result->>'message', '')`,
  at: 'coalesce(x.executed_at, x.requested_at)',
});

/** Newest report about an incident that did not change the decision of a person. */
const updateLeft = (event: string, ...conditions: string[]): Kind => ({
  from: 'incident_timeline x join incidents i on i.id = x.incident_id',
  byId: true,
  where: [
    `x.event = '${event}'`,
    ...conditions,
    `not exists (
      select from incident_timeline later
       where later.incident_id = x.incident_id and later.id > x.id and later.event = '${event}')`,
  ],
  subject: 'x.incident_id::text',
  name: 'i.source',
  reason: 'x.summary',
  at: 'x.at',
  link: `'/api/incidents/' || x.incident_id || '/reports'`,
  incident: 'x.incident_id',
});

const unhealthy = (table: string, error: string, ...more: string[]): Kind => ({
  adminOnly: true,
  from: `${table} x`,
  where: ['x.enabled', 'x.deleted_at is null', 'x.unhealthy_reported_at is not null', ...more],
  reason: `coalesce(x.${error}, '')`,
  at: 'x.unhealthy_reported_at',
  link: `'/api/${table.replace('_', '-')}/' || x.id`,
});

const KINDS = {
  // Only steps without an action. If the action of a step failed, the list contains the action instead.
  playbook_step_failed: {
    from: 'playbook_run_steps x join playbook_runs run on run.id = x.run_id',
    where: [
      `x.status = 'failed'`,
      'x.action_id is null',
      `x.completed_at >= ${SINCE}`,
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
  },
  // The step used an action of another incident, and the action was rolled back for that incident.
  playbook_step_undone: {
    from: `actions x
      join playbook_run_steps step on step.action_id = x.rollback_of
      join playbook_runs run on run.id = step.run_id
      join incidents i on i.id = run.incident_id
      join actions original on original.id = x.rollback_of`,
    byId: true,
    where: [
      `x.status = 'completed'`,
      'x.incident_id is distinct from run.incident_id',
      `i.status <> 'resolved'`,
      isNotRepeated(REQUESTED_AGAIN, 'original.action_type'),
    ],
    subject: `step.run_id || ':' || step.name`,
    name: `run.playbook_name || ': ' || step.name`,
    reason: `x.requested_by || ' rolled back its ' || original.action_type || ': ' || coalesce(x.reason, '')`,
    at: 'coalesce(x.executed_at, x.requested_at)',
    link: ACTION.link,
    incident: 'run.incident_id',
  },
  playbook_runs_rate_limited: {
    from: `playbooks x cross join lateral (
      select count(*) as n, min(run.started_at) as first, max(run.starts_at) as last,
             count(*) filter (where i.severity = 'critical') as critical
        from playbook_runs run left join incidents i on i.id = run.incident_id
       where run.playbook_id = x.id and run.starts_at > now() and run.completed_at is null) as waiting`,
    where: ['waiting.n > 0'],
    reason: `waiting.n || ' automatic runs wait because of PLAYBOOK_RUNS_PER_HOUR, ' || waiting.critical || ' of them for critical incidents. The last run starts at ' || ${utc('waiting.last')} || '.'`,
    at: 'waiting.first',
    link: `'/api/playbooks/' || x.id || '/runs'`,
  },
  action_failed: failedAction(`coalesce(x.result->>'code', '') <> 'outcome_unknown'`),
  action_outcome_unknown: failedAction(`x.result->>'code' = 'outcome_unknown'`),
  approval_expired: {
    ...ACTION,
    from: 'actions x join incidents i on i.id = x.incident_id',
    where: [
      `x.status = 'rejected'`,
      `x.rejection_code = 'expired'`,
      `i.status <> 'resolved'`,
      isNotRepeated(REQUESTED_AGAIN),
    ],
    reason: 'x.rejection_reason',
    at: 'x.rejected_at',
  },
  triage_failed: {
    from: 'triage_runs x join incidents i on i.id = x.incident_id',
    byId: true,
    where: [
      `x.status = 'failed'`,
      `i.status <> 'resolved'`,
      'not i.verdict_by_person',
      'not exists (select from triage_runs later where later.incident_id = x.incident_id and later.id > x.id)',
    ],
    name: `'triage'`,
    reason: `coalesce(x.error->>'message', '')`,
    at: 'x.completed_at',
    link: `'/api/incidents/' || x.incident_id || '/triage/' || x.id`,
    incident: 'x.incident_id',
  },
  webhook_event_failed: {
    from: 'webhook_events x',
    byId: true,
    where: [`x.status = 'failed'`],
    name: 'x.source',
    reason: `coalesce(x.error, '')`,
    at: 'coalesce(x.processed_at, x.received_at)',
    link: `'/api/webhook-events/' || x.id`,
  },
  resolved_incident_reported: updateLeft(
    'update_of_resolved',
    `i.status = 'resolved'`,
    'x.at >= i.resolved_at',
  ),
  verdict_outdated: updateLeft(
    'update_of_judged',
    `i.status <> 'resolved'`,
    'i.verdict_by_person',
    'x.at >= i.triaged_at',
  ),
  webhook_source_silent: {
    role: 'admin',
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
    reason: `'The last event came at ' || ${utc('usual.last')} || '.'`,
    at: 'usual.last',
    link: `'/api/webhooks/' || x.source`,
  },
  connector_unhealthy: unhealthy('connectors', 'health_message'),
  // `unhealthy_reported_at` may belong to failures of an earlier configuration, so `failing_since` is checked as well.
  notification_channel_unhealthy: {
    ...unhealthy(
      'notification_channels',
      'last_error',
      `x.failing_since <= now() - interval '10 minutes'`,
    ),
    at: `greatest(x.unhealthy_reported_at, x.failing_since + interval '10 minutes')`,
  },
  notifications_dead: {
    adminOnly: true,
    from: `notification_channels x
      left join attention_marks done on done.kind = 'notifications_dead' and done.subject = x.id::text
      cross join lateral (
        select count(*) as n, max(ended_at) as last, (array_agg(last_error order by ended_at desc))[1] as error
          from (
            select ended_at, last_error from notification_deliveries
             where channel_id = x.id and status = 'dead' and ended_at >= ${SINCE}
               and (done.at is null or ended_at > done.at)
             order by ended_at desc limit ${MOST_OF_A_KIND}) as delivery) as dead`,
    where: ['x.deleted_at is null', 'dead.n > 0'],
    reason: `dead.n || ' notifications failed permanently. The last error: ' || coalesce(dead.error, 'no error')`,
    at: 'dead.last',
    link: `'/api/notification-channels/' || x.id || '/deliveries?status=dead'`,
  },
  secrets_lost: {
    adminOnly: true,
    from: `(
      select 'webhook_source:' || source as subject, source as name, updated_at, '/api/webhooks/' || source as link
        from webhook_sources where secret is null
      union all
      select 'connector:' || id, name, updated_at, '/api/connectors/' || id
        from connectors
       where secrets is null and health_message = '${SECRETS_LOST}' and not enabled and deleted_at is null
      union all
      select 'notification_channel:' || id, name, updated_at, '/api/notification-channels/' || id
        from notification_channels
       where secrets is null and last_error = '${SECRETS_LOST}' and not enabled and deleted_at is null) as x`,
    where: [],
    subject: 'x.subject',
    reason: `'${SECRETS_LOST}'`,
    at: 'x.updated_at',
    link: 'x.link',
  },
} as const satisfies Record<string, Kind>;

export type AttentionKind = keyof typeof KINDS;
export const ATTENTION: Readonly<Record<AttentionKind, Kind>> = KINDS;
export const ATTENTION_KINDS = Object.keys(ATTENTION) as AttentionKind[];

export const roleToMark = (kind: AttentionKind): Role =>
  ATTENTION[kind].role ?? (ATTENTION[kind].adminOnly ? 'admin' : 'analyst');
