import { All, Controller, type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Requires } from './access/access.js';
import { Settings } from './config/settings.js';
import { foldCounts } from './counting/counted-list.js';
import { Clock } from './clock.js';
import { HealthComponents } from './health-components.js';
import { BodyMemory } from './http/arriving-body.js';
import { Draining, OpenConnections } from './http/listening.js';
import { KnownRoutes } from './http/known-routes.js';
import { DataSource } from 'typeorm';
import { ReservedConnections } from './database/reserved-connections.js';
import { Statements } from './database/statements.js';
import { Transactions } from './database/transactions.js';
import { OutboundHttp } from './net/outbound-http.js';
import { OutboundSmtp } from './net/outbound-smtp.js';
import { Resolver, Targets } from './net/targets.js';
import { DomainEvents } from './work/domain-events.js';
import { Work } from './work/work.js';
import { WorkRepository } from './work/work.repository.js';
import { loadSecretKeys } from './secrets/secret-keys.js';
import { SecretBox, SecretKeys } from './secrets/secret-box.js';
import { pruneKeys } from './idempotency/idempotency.js';
import { ThrottlerModule } from '@nestjs/throttler';
import { LimitStorage } from './limits/limit-storage.js';
import { LimitCounter, FailureLimits } from './limits/limits.js';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { ApiMetricsController, MetricsController } from './metrics/metrics.controller.js';
import { METRICS, HttpMetrics } from './metrics/metrics.js';
import { ScrapedGauges } from './metrics/scraped-gauges.js';

/** Receives unknown requests under /api, so that the guards check them and strangers learn nothing. */
@ApiExcludeController()
@Controller(['api', 'api/*'])
@Requires('viewer')
export class UnknownAddressController {
  @All()
  refuse(): never {
    throw new Error('No authentication is configured, so the RequestGuard refuses every request.');
  }
}

/** Registered once for all apps of the process, because the apps share the metrics. */
const prometheus = PrometheusModule.register({ controller: MetricsController });

/** Providers that every other module may inject. The caller opens and closes the data source: see openDatabase. */
@Global()
@Module({})
export class PlatformModule {
  constructor(work: Work, statements: Statements, dataSource: DataSource) {
    work.every('count-fold', 2, () => foldCounts(statements));
    work.every('idempotency.prune', 600, (signal) => pruneKeys(dataSource, signal));
  }

  static on(settings: Settings, dataSource: DataSource): DynamicModule {
    const throttler = ThrottlerModule.forRootAsync({
      inject: [LimitStorage],
      // Placeholder, because RateLimitGuard chooses the limit of each request by handler and principal.
      useFactory: (storage: LimitStorage) => ({ storage, throttlers: [{ ttl: 60_000, limit: 0 }] }),
    });
    const providers: Provider[] = [
      { provide: Settings, useValue: settings },
      { provide: DataSource, useValue: dataSource },
      ...[Transactions, Statements, ReservedConnections],
      ...[Clock, Draining, HealthComponents, KnownRoutes, OpenConnections, BodyMemory],
      ...[Resolver, Targets, OutboundHttp, OutboundSmtp],
      ...[Work, WorkRepository, DomainEvents],
      { provide: LimitStorage, useFactory: () => LimitStorage.open(settings) },
      { provide: SecretKeys, useFactory: () => loadSecretKeys(settings) },
      ...[SecretBox, FailureLimits, LimitCounter],
      ...[...METRICS, HttpMetrics, ScrapedGauges],
    ];
    return {
      module: PlatformModule,
      imports: [throttler, prometheus],
      controllers: [ApiMetricsController, UnknownAddressController],
      providers,
      exports: [...providers, throttler],
    };
  }
}
