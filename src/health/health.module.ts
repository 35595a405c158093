import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiHealthController, HealthController } from './health.controller.js';

import { ClockWatch, DatabaseHealth, RedisHealth } from './health-checks.js';
import { HealthService } from './health.service.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, ApiHealthController],
  providers: [HealthService, DatabaseHealth, RedisHealth, ClockWatch],
})
export class HealthModule {}
