import { Injectable } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram } from 'prom-client';
import { routeOf, UNKNOWN_ADDRESSES } from '../http/known-routes.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { beginAtZero, knownOr } from './metrics.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Only these begin at 0, because the alert counts them. */
const SERVER_ERRORS = [...new Set(Object.values(ERROR_CATALOGUE).map(([status]) => status))]
  .filter((status) => status >= 500)
  .map(String);

@Injectable()
export class HttpMetrics {
  constructor(
    @InjectMetric('http_requests_total')
    private readonly requests: Counter<'method' | 'route' | 'status'>,
    @InjectMetric('http_request_duration_seconds')
    private readonly duration: Histogram<'method' | 'route'>,
    @InjectMetric('http_requests_in_flight') private readonly inFlight: Gauge,
  ) {}

  /** Call it before any route is added. */
  watch(instance: FastifyInstance): void {
    this.begin([...METHODS, 'other'], 'unknown');
    instance.addHook('onRoute', ({ method, url }) => {
      if (!UNKNOWN_ADDRESSES.includes(url)) this.begin([method].flat(), url);
    });
    instance.addHook('onRequest', (_request, reply, done) => {
      this.inFlight.inc();
      // Not onResponse, which is not called if the client disconnects.
      reply.raw.once('close', () => this.inFlight.dec());
      done();
    });
    instance.addHook('onResponse', (request, reply, done) => {
      const method = knownOr(request.method, METHODS);
      // Unknown addresses, and wrong methods of known ones, have no template.
      const route = routeOf(request) ?? 'unknown';
      this.requests.inc({ method, route, status: String(reply.statusCode) });
      this.duration.observe({ method, route }, reply.elapsedTime / 1000);
      done();
    });
  }

  private begin(methods: readonly string[], route: string): void {
    const method = methods.map((one) => knownOr(one, METHODS));
    beginAtZero(this.requests, { method, route: [route], status: SERVER_ERRORS });
  }
}
