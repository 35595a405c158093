import type { FastifyReply } from 'fastify';
import { Controller, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';
import { TWINS_UNDER_API } from '../platform/openapi/operations.js';
import { HealthService } from './health.service.js';
import {
  ReadsDetailedHealth,
  ReadsHealth,
  ReadsLiveness,
  ReadsReadiness,
} from './health-operations.js';

/** What the addresses of health answer, wherever they are. */
abstract class HealthAnswers {
  constructor(private readonly health: HealthService) {}

  protected async overall(reply: FastifyReply): Promise<HealthDto> {
    return withStatus(reply, await this.health.brief());
  }

  protected async everyPart(reply: FastifyReply): Promise<DetailedHealthDto> {
    return withStatus(reply, await this.health.detailed());
  }

  protected liveness(): LivenessDto {
    return { status: 'alive' };
  }

  protected async readiness(reply: FastifyReply): Promise<ReadinessDto | UnreadinessDto> {
    const checks = await this.health.obstacles();
    if (Object.keys(checks).length === 0) return { status: 'ready' };
    void reply.status(503);
    return { status: 'not_ready', checks };
  }
}

function withStatus<T extends HealthDto>(reply: FastifyReply, health: T): T {
  if (health.status === 'unhealthy') void reply.status(503);
  return health;
}

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

/** The same for those who know only /api. Probes belong at the root: here even /live needs a key, and so the database. */
@ApiTags(TWINS_UNDER_API)
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
