import type { FastifyReply } from 'fastify';
import { Controller, Inject, Res, applyDecorators, Get, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';
import { HealthService } from './health.service.js';
import { type Access, Allow } from '../platform/access/access.js';
import { RawAnswer } from '../platform/http/answer.js';
import { AnyQuery } from '../platform/http/handler-options.js';
import { ApiAnswer, Operation, TWINS_UNDER_API } from '../platform/openapi/answers.js';

const HealthRead = (
  access: Access,
  path: string,
  answers: Readonly<Record<number, readonly [description: string, type: Type]>>,
  ...operation: Parameters<typeof Operation>
): MethodDecorator =>
  applyDecorators(
    Get(path),
    Allow(access),
    RawAnswer(),
    AnyQuery(),
    Operation(...operation),
    ...Object.entries(answers).map(([status, [description, type]]) =>
      ApiAnswer(Number(status), description, type, { raw: true }),
    ),
  );

const WORKS = 'The service works. Some components may be impaired.';
const FAILS = 'The service does not work.';

function HealthReads(access: Access) {
  abstract class Reads {
    @Inject(HealthService)
    readonly health: HealthService;

    @HealthRead(
      access,
      'health',
      { 200: [WORKS, HealthDto], 503: [FAILS, HealthDto] },
      'getHealth',
      'Read the overall health',
      'For monitoring. 503 if the service does not work. An impaired component leaves the status at 200, with `degraded`.',
    )
    async brief(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthDto> {
      return withStatus(reply, await this.health.brief());
    }

    @HealthRead(
      'operations',
      'health/detailed',
      { 200: [WORKS, DetailedHealthDto], 503: [FAILS, DetailedHealthDto] },
      'getDetailedHealth',
      'Read the health of every component',
      'Details of each component. With METRICS_TOKEN it responds even while the database is down.',
    )
    async detailed(@Res({ passthrough: true }) reply: FastifyReply): Promise<DetailedHealthDto> {
      return withStatus(reply, await this.health.detailed());
    }

    @HealthRead(
      access,
      'live',
      { 200: ['The process is alive.', LivenessDto] },
      'getLiveness',
      'Tell whether the process is alive',
      'For the probe that restarts the process. It depends on nothing else, not even the database.',
    )
    live(): LivenessDto {
      return { status: 'alive' };
    }

    @HealthRead(
      access,
      'ready',
      {
        200: ['The service accepts requests.', ReadinessDto],
        503: ['The service does not accept requests now.', UnreadinessDto],
      },
      'getReadiness',
      'Tell whether the service accepts requests',
      'For the probe that routes traffic. Fails while the database is unreachable or read-only, and while the service stops.',
    )
    async ready(
      @Res({ passthrough: true }) reply: FastifyReply,
    ): Promise<ReadinessDto | UnreadinessDto> {
      const checks = await this.health.obstacles();
      if (Object.keys(checks).length === 0) return { status: 'ready' };
      void reply.status(503);
      return { status: 'not_ready', checks };
    }
  }
  return Reads;
}

function withStatus<T extends HealthDto>(reply: FastifyReply, health: T): T {
  if (health.status === 'unhealthy') void reply.status(503);
  return health;
}

@ApiTags('System')
@Controller()
export class HealthController extends HealthReads('public') {}

/** All operations under /api, even /api/live, require a key. So they need the database. */
@ApiTags(TWINS_UNDER_API)
@Controller('api')
export class ApiHealthController extends HealthReads('operations') {}
