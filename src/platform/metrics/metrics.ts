import { Injectable, type Provider } from '@nestjs/common';
import {
  InjectMetric,
  makeCounterProvider,
  makeGaugeProvider,
  makeHistogramProvider,
} from '@willsoto/nestjs-prometheus';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram } from 'prom-client';
import { routeOf, UNKNOWN_ADDRESSES } from '../http/known-routes.js';

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
 * caller can invent: values outside a known set count as `other`. Gauges of database contents are read at
 * each scrape: see ScrapedGauges. Counters with labels begin with all known series: see beginAtZero. Several apps in
 * one process share the metrics.
 */
export const METRICS: readonly Provider[] = [
  counter('http_requests_total', 'HTTP requests answered.', ['method', 'route', 'status']),
  histogram('http_request_duration_seconds', REQUESTS, 'Response time.', ['method', 'route']),
  gauge('http_requests_in_flight', 'Requests in progress.'),
  gauge('db_pool_connections_active', 'Database connections in use.'),
  gauge('database_up', 'Whether the database answers in time and accepts writes.'),
  gauge('redis_up', 'Whether Redis counts the rate limits; absent without Redis.'),
  gauge('clock_offset_seconds', 'Clock of this machine minus clock of the database.'),
  counter('incidents_total', 'Incidents created.', ['type', 'severity']),
  counter('actions_executed_total', 'Actions that ended.', ['action_type', 'status']),
  counter('action_failures_total', 'Failed actions by result code.', ['action_type', 'code']),
  counter('webhook_received_total', 'Webhook receipts.', ['source']),
  counter('webhook_errors_total', 'Webhook receipts refused or failed.', ['source', 'code']),
  gauge('webhook_events', 'Events in the inbox: queued for a worker, or failed.', ['status']),
  gauge('triage_runs', 'Triage runs that have not ended: queued or running.', ['status']),
  histogram('triage_duration_seconds', LONG_WORK, 'Duration of a triage run.', ['status']),
  counter('llm_tokens_total', 'Tokens sent to and received from the model.', ['direction']),
  counter('playbook_runs_total', 'Playbook runs that ended.', ['automatic', 'outcome']),
  counter('playbook_steps_failed_total', 'Failed playbook steps.', ['automatic', 'cause']),
  gauge('playbook_runs', 'Playbook runs that have not ended.', ['status']),
  gauge('playbook_runs_oldest_due_seconds', 'Waiting time of the oldest due playbook run, or 0.'),
  gauge('flow_oldest_waiting_seconds', 'Waiting time of the first item of each queue.', ['stage']),
  gauge('approvals_pending', 'Actions that wait for approval.'),
  gauge('approvals_oldest_seconds', 'Waiting time of the oldest action to approve, or 0.'),
  histogram('approval_wait_seconds', LONG_WAITS, 'Time from request to approval or rejection.'),
  gauge('kill_switch_active', 'Whether the kill switch is on.'),
  gauge('jobs_waiting', 'Jobs that are due, deferred or will be retried.'),
  gauge('jobs_dead', 'Jobs that failed and wait for an operator: GET /api/jobs/dead.'),
  gauge('audit_unsealed', 'Audit entries that wait to be sealed.'),
  gauge('audit_oldest_unsealed_seconds', 'Age of the oldest unsealed audit entry, or 0.'),
  gauge('audit_chain_ok', 'Whether the end of the audit chain continues its last known state.'),
  gauge('connector_up', 'Whether an enabled connector answers.', ['connector']),
  counter('notification_attempts_total', 'Delivery attempts.', ['type', 'outcome']),
  counter('notification_deliveries_dead_total', 'Notifications that never arrive.', ['type']),
  gauge('notification_channel_up', 'Whether an enabled channel delivers.', ['channel']),
  gauge('notifications_waiting', 'Undelivered notifications of enabled channels.'),
];

/** Prometheus sees no increase in a series that begins with its first burst, so no alert would fire. */
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

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const labelOf = (method: string) => (METHODS.includes(method) ? method : 'other');

@Injectable()
export class HttpMetrics {
  constructor(
    @InjectMetric('http_requests_total')
    private readonly requests: Counter<'method' | 'route' | 'status'>,
    @InjectMetric('http_request_duration_seconds')
    private readonly duration: Histogram<'method' | 'route'>,
    @InjectMetric('http_requests_in_flight') private readonly inFlight: Gauge,
  ) {}

  /** Must be called before any route is added. */
  watch(instance: FastifyInstance): void {
    this.begin([...METHODS, 'other'], 'unknown');
    instance.addHook('onRoute', ({ method, url }) => {
      if (!UNKNOWN_ADDRESSES.includes(url)) this.begin([method].flat(), url);
    });
    instance.addHook('onRequest', (_request, reply, done) => {
      this.inFlight.inc();
      // Fastify does not call onResponse if the client disconnects.
      reply.raw.once('close', () => this.inFlight.dec());
      done();
    });
    instance.addHook('onResponse', (request, reply, done) => {
      const method = labelOf(request.method);
      // Unknown paths, and wrong methods of known paths, have no template.
      const route = routeOf(request) ?? 'unknown';
      this.requests.inc({ method, route, status: String(reply.statusCode) });
      this.duration.observe({ method, route }, reply.elapsedTime / 1000);
      done();
    });
  }

  private begin(methods: readonly string[], route: string): void {
    const status = ['500', '503'];
    beginAtZero(this.requests, { method: methods.map(labelOf), route: [route], status });
  }
}
