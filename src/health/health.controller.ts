import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Allow, Public } from '../common/access.js';
import { AnyQuery, RawAnswer } from '../common/http/handler-options.js';
import { ApiAnswer, Operation } from '../common/openapi/answers.js';
import {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';
import { HealthService } from './health.service.js';

@ApiTags('System')
@Controller(['', 'api'])
@RawAnswer()
@AnyQuery()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('health')
  @Public()
  @Operation('getHealth', 'Read the overall health')
  @ApiAnswer({
    status: 200,
    description: 'The service works, perhaps with parts impaired.',
    type: HealthDto,
    raw: true,
  })
  @ApiAnswer({ status: 503, description: 'The service does not work.', type: HealthDto, raw: true })
  async brief(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthDto> {
    return withStatus(reply, await this.health.brief());
  }

  @Get('health/detailed')
  @Allow('operations')
  @Operation('getDetailedHealth', 'Read the health of every part')
  @ApiAnswer({
    status: 200,
    description: 'The service works, perhaps with parts impaired.',
    type: DetailedHealthDto,
    raw: true,
  })
  @ApiAnswer({
    status: 503,
    description: 'The service does not work.',
    type: DetailedHealthDto,
    raw: true,
  })
  async detailed(@Res({ passthrough: true }) reply: FastifyReply): Promise<DetailedHealthDto> {
    return withStatus(reply, await this.health.detailed());
  }

  /** For the probe that restarts a process: it does not depend on the database. */
  @Get('live')
  @Public()
  @Operation('getLiveness', 'Tell whether the process is alive')
  @ApiAnswer({ status: 200, description: 'The process is alive.', type: LivenessDto, raw: true })
  live(): LivenessDto {
    return { status: 'alive' };
  }

  /** For the probe that sends traffic: it fails while the database is unreachable or the service stops. */
  @Get('ready')
  @Public()
  @Operation('getReadiness', 'Tell whether the service takes requests')
  @ApiAnswer({
    status: 200,
    description: 'The service takes requests.',
    type: ReadinessDto,
    raw: true,
  })
  @ApiAnswer({
    status: 503,
    description: 'The service does not take requests now.',
    type: UnreadinessDto,
    raw: true,
  })
  async ready(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReadinessDto | UnreadinessDto> {
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
