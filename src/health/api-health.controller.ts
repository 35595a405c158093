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

/** The same for those who know only /api. Probes belong at the root: here even /live needs a key, and so the database. */
@ApiTags('System')
@Controller('api')
export class ApiHealthController extends HealthAnswers {
  constructor(health: HealthService) {
    super(health);
  }

  @ReadsHealth('operations')
  brief(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthDto> {
    return this.overall(reply);
  }

  @ReadsDetailedHealth('operations')
  detailed(@Res({ passthrough: true }) reply: FastifyReply): Promise<DetailedHealthDto> {
    return this.everyPart(reply);
  }

  @ReadsLiveness('operations')
  live(): LivenessDto {
    return this.liveness();
  }

  @ReadsReadiness('operations')
  ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessDto | UnreadinessDto> {
    return this.readiness(reply);
  }
}
