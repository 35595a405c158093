import type { Provider } from '@nestjs/common';
import {
  makeCounterProvider,
  makeGaugeProvider,
  makeHistogramProvider,
} from '@willsoto/nestjs-prometheus';
import { type Counter, Histogram } from 'prom-client';

const REQUESTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LONG_WORK = [0.1, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 120];
const LONG_WAITS = [30, 60, 300, 900, 1800, 3600, 4 * 3600, 8 * 3600, 24 * 3600];

const counter = (name: string, help: string, labelNames: readonly string[] = []) =>
  makeCounterProvider({ name, help, labelNames });
const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
  makeGaugeProvider({ name, help, labelNames });
const histogram = (
  name: string,
  buckets: number[],
  help: string,
  labelNames: readonly string[] = [],
) => makeHistogramProvider({ name, help, labelNames, buckets });

/**
 * All metrics of the service, injected by name: `@InjectMetric('incidents_total')`. A label never has a value that a
 * caller can invent: values outside a known set count as `other` (see knownOr). Gauges of database contents are read at
 * each scrape: see ScrapedGauges. Counters with labels begin with all known series: see beginAtZero. Several apps in
 * one process share the metrics.
 */
export const METRICS: readonly Provider[] = [
  counter('http_requests_total', 'HTTP requests answered.', ['method', 'route', 'status']),
  histogram('http_request_duration_seconds', REQUESTS, 'Time to answer a request.', [
    'method',
    'route',
  ]),
  gauge('http_requests_in_flight', 'Requests being answered.'),
  gauge('db_pool_connections_active', 'Database connections in use.'),
  gauge('database_up', 'Whether the database answers in time and can be written to.'),
  gauge(
    'redis_up',
    'Whether Redis counts the rate limits of all replicas; absent where none is set.',
  ),
  gauge(
    'clock_offset_seconds',
    'How far the clock of the machine is ahead of that of the database, whose time is used.',
  ),
  counter('incidents_total', 'Incidents created.', ['type', 'severity']),
  counter('actions_executed_total', 'Actions that ended.', ['action_type', 'status']),
  counter('action_failures_total', 'Actions that failed, by the code of their result.', [
    'action_type',
    'code',
  ]),
  counter('webhook_received_total', 'Webhook receipts.', ['source']),
  counter('webhook_errors_total', 'Webhook receipts refused or failed.', ['source', 'code']),
  gauge(
    'webhook_events',
    'Webhook events in the inbox that are not settled: queued ones wait for a worker, failed ones for a person.',
    ['status'],
  ),
  gauge(
    'triage_runs',
    'Triage runs that have not ended: queued ones wait, running ones are being judged.',
    ['status'],
  ),
  histogram(
    'triage_duration_seconds',
    LONG_WORK,
    'Time from the start to the end of a triage run.',
    ['status'],
  ),
  counter('llm_tokens_total', 'Tokens sent to (input) and got from (output) the model.', [
    'direction',
  ]),
  counter(
    'playbook_runs_total',
    'Playbook runs that ended, by the outcome that the API shows: succeeded, partial (to the end, although steps failed), failed or cancelled.',
    ['automatic', 'outcome'],
  ),
  counter(
    'playbook_steps_failed_total',
    'Steps of playbook runs that failed: expression where one could not be evaluated, action where its action failed or was rejected.',
    ['automatic', 'cause'],
  ),
  gauge(
    'playbook_runs',
    'Playbook runs that have not ended: due ones wait for a replica, running ones are under way, the others wait for an approval.',
    ['status'],
  ),
  gauge(
    'playbook_runs_oldest_due_seconds',
    'For how long the oldest playbook run that is due has waited for a replica; 0 when none does.',
  ),
  gauge(
    'flow_oldest_waiting_seconds',
    'For how long the first of each queue between a receipt and its last notification has waited; 0 when none does.',
    ['stage'],
  ),
  gauge('approvals_pending', 'Actions that wait for a person.'),
  gauge(
    'approvals_oldest_seconds',
    'For how long the oldest action that waits for a person has waited; 0 when none does.',
  ),
  histogram(
    'approval_wait_seconds',
    LONG_WAITS,
    'Time from the request of an action to its approval or rejection.',
  ),
  gauge('kill_switch_active', 'Whether the kill switch is on.'),
  gauge('jobs_waiting', 'Jobs that are due, deferred or to be tried again.'),
  gauge('jobs_dead', 'Jobs that failed for good and wait for an operator: GET /api/jobs/dead.'),
  gauge('audit_unsealed', 'Audit entries that wait to be sealed.'),
  gauge(
    'audit_oldest_unsealed_seconds',
    'Age of the oldest audit entry that waits to be sealed; 0 when none does.',
  ),
  gauge(
    'audit_chain_ok',
    'Whether the end of the audit chain is as it was seen before, and continued.',
  ),
  gauge('connector_up', 'Whether an enabled connector answers.', ['connector']),
  counter(
    'notification_attempts_total',
    'Attempts to deliver a notification. Failed ones are tried again for a day, refused ones are not.',
    ['type', 'outcome'],
  ),
  counter(
    'notification_deliveries_dead_total',
    'Notifications that never arrive: the receiver refused them, or their day is over.',
    ['type'],
  ),
  gauge(
    'notification_channel_up',
    'Whether an enabled notification channel has taken something in the last ten minutes, or had nothing to take.',
    ['channel'],
  ),
  gauge('notifications_waiting', 'Notifications that are on their way to enabled channels.'),
];

/** Returns the value if it is in the known set, else `other`. */
export function knownOr(value: string, known: readonly string[] | ReadonlySet<string>): string {
  const isKnown = 'has' in known ? known.has(value) : known.includes(value);
  return isKnown ? value : 'other';
}

/**
 * Creates all known series of a counter at 0. Prometheus sees no increase in a series that begins with its first burst,
 * so no alert would fire. Modules call it in `onModuleInit` with the values of each label.
 */
export function beginAtZero<Label extends string>(
  metric: Counter<Label> | Histogram<Label>,
  labels: Readonly<Record<Label, readonly string[]>>,
): void {
  const combinations = (Object.keys(labels) as Label[]).reduce<object[]>(
    (found, name) =>
      found.flatMap((each) => labels[name].map((word) => ({ ...each, [name]: word }))),
    [{}],
  );
  for (const each of combinations as Readonly<Record<Label, string>>[]) {
    if (metric instanceof Histogram) metric.zero(each);
    else metric.inc(each, 0);
  }
}
