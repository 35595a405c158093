import { Global, Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

@Global()
@Module({
  imports: [PrometheusModule.register({ controller: MetricsController })],
  providers: [Metrics],
  exports: [Metrics],
})
export class MetricsModule {}
