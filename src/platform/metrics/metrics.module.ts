import { Global, Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { ApiMetricsController, MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';
import { PoolMetrics } from './pool-metrics.js';
import { ScrapedGauges } from './scraped-gauges.js';

@Global()
@Module({
  imports: [PrometheusModule.register({ controller: MetricsController })],
  controllers: [ApiMetricsController],
  providers: [Metrics, ScrapedGauges, PoolMetrics],
  exports: [Metrics, ScrapedGauges],
})
export class MetricsModule {}
