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

/**
 * All metrics of the service, injected by name: `@InjectMetric('incidents_total')`. A label never has a value that a
 * caller can invent: values outside a known set count as `other` (see knownOr). Gauges of database contents are read at
 * each scrape: see ScrapedGauges. Counters with labels begin with all known series: see beginAtZero. Several apps in
 * one process share the metrics.
 */
export const METRICS: readonly Provider[] = [
  makeCounterProvider({
    name: 'http_requests_total',
    help: 'HTTP requests answered.',
    labelNames: ['method', 'route', 'status'],
  }),
  makeHistogramProvider({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route'],
    buckets: REQUESTS,
  }),
  makeGaugeProvider({ name: 'http_requests_in_flight', help: 'Requests being answered.' }),
  makeGaugeProvider({ name: 'db_pool_connections_active', help: 'Database connections in use.' }),
  makeGaugeProvider({
    name: 'database_up',
    help: 'Whether the database answers in time and can be written to.',
  }),
  makeGaugeProvider({
    name: 'redis_up',
    help: 'Whether Redis counts the rate limits of all replicas; absent where none is set.',
  }),
  makeGaugeProvider({
    name: 'clock_offset_seconds',
    help: 'How far the clock of the machine is ahead of that of the database, whose time is used.',
  }),

  makeCounterProvider({
    name: 'incidents_total',
    help: 'Incidents created.',
    labelNames: ['type', 'severity'],
  }),
  makeCounterProvider({
    name: 'actions_executed_total',
    help: 'Actions that ended.',
    labelNames: ['action_type', 'status'],
  }),
  makeCounterProvider({
    name: 'action_failures_total',
    help: 'Actions that failed, by the code of their result.',
    labelNames: ['action_type', 'code'],
  }),
  makeCounterProvider({
    name: 'webhook_received_total',
    help: 'Webhook receipts.',
    labelNames: ['source'],
  }),
  makeCounterProvider({
    name: 'webhook_errors_total',
    help: 'Webhook receipts refused or failed.',
    labelNames: ['source', 'code'],
  }),
  makeGaugeProvider({
    name: 'webhook_events',
    help: 'Webhook events in the inbox that are not settled: queued ones wait for a worker, failed ones for a person.',
    labelNames: ['status'],
  }),

  makeGaugeProvider({
    name: 'triage_runs',
    help: 'Triage runs that have not ended: queued ones wait, running ones are being judged.',
    labelNames: ['status'],
  }),
  makeHistogramProvider({
    name: 'triage_duration_seconds',
    help: 'Time from the start to the end of a triage run.',
    labelNames: ['status'],
    buckets: LONG_WORK,
  }),
  makeCounterProvider({
    name: 'llm_tokens_total',
    help: 'Tokens sent to (input) and got from (output) the model.',
    labelNames: ['direction'],
  }),
  makeCounterProvider({
    name: 'playbook_runs_total',
    help: 'Playbook runs that ended, by the outcome that the API shows: succeeded, partial (to the end, although steps failed), failed or cancelled.',
    labelNames: ['automatic', 'outcome'],
  }),
  makeCounterProvider({
    name: 'playbook_steps_failed_total',
    help: 'Steps of playbook runs that failed: expression where one could not be evaluated, action where its action failed or was rejected.',
    labelNames: ['automatic', 'cause'],
  }),
  makeGaugeProvider({
    name: 'playbook_runs',
    help: 'Playbook runs that have not ended: due ones wait for a replica, running ones are under way, the others wait for an approval.',
    labelNames: ['status'],
  }),
  makeGaugeProvider({
    name: 'playbook_runs_oldest_due_seconds',
    help: 'For how long the oldest playbook run that is due has waited for a replica; 0 when none does.',
  }),
  makeGaugeProvider({
    name: 'flow_oldest_waiting_seconds',
    help: 'For how long the first of each queue between a receipt and its last notification has waited; 0 when none does.',
    labelNames: ['stage'],
  }),
  makeGaugeProvider({ name: 'approvals_pending', help: 'Actions that wait for a person.' }),
  makeGaugeProvider({
    name: 'approvals_oldest_seconds',
    help: 'For how long the oldest action that waits for a person has waited; 0 when none does.',
  }),
  makeHistogramProvider({
    name: 'approval_wait_seconds',
    help: 'Time from the request of an action to its approval or rejection.',
    buckets: LONG_WAITS,
  }),

  makeGaugeProvider({ name: 'kill_switch_active', help: 'Whether the kill switch is on.' }),
  makeGaugeProvider({
    name: 'jobs_waiting',
    help: 'Jobs that are due, deferred or to be tried again.',
  }),
  makeGaugeProvider({
    name: 'jobs_dead',
    help: 'Jobs that failed for good and wait for an operator: GET /api/jobs/dead.',
  }),
  makeGaugeProvider({ name: 'audit_unsealed', help: 'Audit entries that wait to be sealed.' }),
  makeGaugeProvider({
    name: 'audit_oldest_unsealed_seconds',
    help: 'Age of the oldest audit entry that waits to be sealed; 0 when none does.',
  }),
  makeGaugeProvider({
    name: 'audit_chain_ok',
    help: 'Whether the end of the audit chain is as it was seen before, and continued.',
  }),
  makeGaugeProvider({
    name: 'connector_up',
    help: 'Whether an enabled connector answers.',
    labelNames: ['connector'],
  }),
  makeCounterProvider({
    name: 'notification_attempts_total',
    help: 'Attempts to deliver a notification. Failed ones are tried again for a day, refused ones are not.',
    labelNames: ['type', 'outcome'],
  }),
  makeCounterProvider({
    name: 'notification_deliveries_dead_total',
    help: 'Notifications that never arrive: the receiver refused them, or their day is over.',
    labelNames: ['type'],
  }),
  makeGaugeProvider({
    name: 'notification_channel_up',
    help: 'Whether an enabled notification channel has taken something in the last ten minutes, or had nothing to take.',
    labelNames: ['channel'],
  }),
  makeGaugeProvider({
    name: 'notifications_waiting',
    help: 'Notifications that are on their way to enabled channels.',
  }),
];

/** Returns the value if it is in the known set, else `other`. */
export function knownOr(value: string, known: readonly string[] | ReadonlySet<string>): string {
  const isKnown = 'has' in known ? known.has(value) : known.includes(value);
  return isKnown ? value : 'other';
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/**
 * Creates all known series of a counter at 0. Prometheus sees no increase in a series that begins with its first burst,
 * so no alert would fire. Modules call it in `onModuleInit` with the values of each label.
 */
export function beginAtZero<Label extends string>(
  metric: Counter<Label> | Histogram<Label>,
  labels: Readonly<Record<Label, readonly string[]>>,
): void {
  for (const each of combinations(labels)) {
    if (metric instanceof Histogram) metric.zero(each);
    else metric.inc(each, 0);
  }
}

function combinations<Label extends string>(
  labels: Readonly<Record<Label, readonly string[]>>,
): Labels<Label>[] {
  const names = Object.keys(labels) as Label[];
  return names.reduce<Partial<Labels<Label>>[]>(
    (found, name) =>
      found.flatMap((each) => labels[name].map((value) => ({ ...each, [name]: value }))),
    [{}],
  ) as Labels<Label>[];
}
