import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, register } from 'prom-client';

/** Every metric of the service, typed. A label never takes a value that a caller can invent. */
@Injectable()
export class Metrics {
  readonly httpRequests = counter('http_requests_total', 'HTTP requests answered.', [
    'method',
    'route',
    'status',
  ]);
  readonly httpDuration = histogram('http_request_duration_seconds', 'Time to answer a request.', [
    'method',
    'route',
  ]);
  readonly httpInFlight = gauge('http_requests_in_flight', 'Requests being answered.', []);
  readonly poolActive = gauge('db_pool_connections_active', 'Database connections in use.', []);
  readonly killSwitchActive = gauge('kill_switch_active', 'Whether the kill switch is on.', []);
  readonly connectorUp = gauge('connector_up', 'Whether an enabled connector answers.', [
    'connector',
  ]);
}

function once<M>(name: string, create: () => M): M {
  // Several apps may live in one process (tests, replicas side by side): they share the registry.
  return (register.getSingleMetric(name) as M | undefined) ?? create();
}

function counter<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
): Counter<L> {
  return once(name, () => new Counter({ name, help, labelNames }));
}

function gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
  return once(name, () => new Gauge({ name, help, labelNames }));
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

function histogram<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
): Histogram<L> {
  return once(name, () => new Histogram({ name, help, labelNames, buckets: SECONDS }));
}
