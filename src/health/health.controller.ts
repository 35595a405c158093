import { Controller, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { HealthAnswers } from './health-answers.js';
import {
  ReadsDetailedHealth,
  ReadsHealth,
  ReadsLiveness,
  ReadsReadiness,
} from './health-operations.js';
import type {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';
import { HealthService } from './health.service.js';

@ApiTags('System')
@Controller()
export class HealthController extends HealthAnswers {
  constructor(health: HealthService) {
    super(health);
  }

  @ReadsHealth('public')
  brief(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthDto> {
    return this.overall(reply);
  }

  @ReadsDetailedHealth('operations')
  detailed(@Res({ passthrough: true }) reply: FastifyReply): Promise<DetailedHealthDto> {
    return this.everyPart(reply);
  }

  @ReadsLiveness('public')
  live(): LivenessDto {
    return this.liveness();
  }

  @ReadsReadiness('public')
  ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessDto | UnreadinessDto> {
    return this.readiness(reply);
  }
}
