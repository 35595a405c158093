import { Global, Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { HttpMetrics } from './http-metrics.js';
import { ApiMetricsController, MetricsController } from './metrics.controller.js';
import { METRICS } from './metrics.js';
import { PoolGauge, ScrapedGauges } from './scraped-gauges.js';

@Global()
@Module({
  imports: [PrometheusModule.register({ controller: MetricsController })],
  controllers: [ApiMetricsController],
  providers: [...METRICS, HttpMetrics, ScrapedGauges, PoolGauge],
  exports: [...METRICS, HttpMetrics, ScrapedGauges],
})
export class MetricsModule {}
