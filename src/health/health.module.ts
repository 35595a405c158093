import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiHealthController, HealthController } from './health.controller.js';
import { ClockWatch } from './clock-watch.js';
import { DatabaseHealth, RedisHealth } from './dependency-health.js';
import { HealthService } from './health.service.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, ApiHealthController],
  providers: [HealthService, DatabaseHealth, RedisHealth, ClockWatch],
})
export class HealthModule {}
