import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiHealthController, HealthController } from './health.controller.js';
import { ClockWatch } from './clock-watch.js';
import { DatabaseHealth } from './database-health.js';
import { HealthService } from './health.service.js';
import { RedisHealth } from './redis-health.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, ApiHealthController],
  providers: [HealthService, DatabaseHealth, RedisHealth, ClockWatch],
})
export class HealthModule {}
