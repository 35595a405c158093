import type { FastifyReply } from 'fastify';
import { Controller, Res, applyDecorators, Get, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';
import { TWINS_UNDER_API } from '../platform/openapi/operations.js';
import { HealthService } from './health.service.js';
import { type Access, Allow } from '../platform/access/access.js';
import { RawAnswer } from '../platform/http/answering-adapter.js';
import { AnyQuery } from '../platform/http/handler-options.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';

interface Body {
  readonly description: string;
  readonly type: Type;
  readonly example?: unknown;
}

interface HealthOperation {
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly more: string;
  readonly good: Body;
  readonly bad?: Body;
}

/** Declares a health operation. Each has two paths: at the root for probes without a key, and under /api with a key. */
const HealthRead =
  ({ path, id, summary, more, good, bad }: HealthOperation) =>
  (access: Access): MethodDecorator =>
    applyDecorators(
      Get(path),
      Allow(access),
      RawAnswer(),
      AnyQuery(),
      Operation(id, summary, more),
      ApiAnswer({ status: 200, raw: true, ...good }),
      ...(bad ? [ApiAnswer({ status: 503, raw: true, ...bad })] : []),
    );

const WORKS = 'The service works. Some components may be impaired.';
const FAILS = 'The service does not work.';

const ReadsHealth = HealthRead({
  path: 'health',
  id: 'getHealth',
  summary: 'Read the overall health',
  more: 'For monitoring. 503 if the service does not work. An impaired component leaves the status at 200, with `degraded`.',
  good: { description: WORKS, type: HealthDto },
  bad: { description: FAILS, type: HealthDto },
});

const ReadsDetailedHealth = HealthRead({
  path: 'health/detailed',
  id: 'getDetailedHealth',
  summary: 'Read the health of every component',
  more: 'Details of each component. With METRICS_TOKEN it responds even while the database is down.',
  good: { description: WORKS, type: DetailedHealthDto },
  bad: { description: FAILS, type: DetailedHealthDto },
});

const ReadsLiveness = HealthRead({
  path: 'live',
  id: 'getLiveness',
  summary: 'Tell whether the process is alive',
  more: 'For the probe that restarts the process. It depends on nothing else, not even the database.',
  good: { description: 'The process is alive.', type: LivenessDto },
});

const ReadsReadiness = HealthRead({
  path: 'ready',
  id: 'getReadiness',
  summary: 'Tell whether the service accepts requests',
  more: 'For the probe that routes traffic. Fails while the database is unreachable or read-only, and while the service stops.',
  good: { description: 'The service accepts requests.', type: ReadinessDto },
  bad: { description: 'The service does not accept requests now.', type: UnreadinessDto },
});

/** Health operations for one base path. `access` guards liveness, readiness and overall health. */
function HealthReads(access: Access) {
  abstract class Reads {
    constructor(readonly health: HealthService) {}

    @ReadsHealth(access)
    async brief(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthDto> {
      return withStatus(reply, await this.health.brief());
    }

    @ReadsDetailedHealth('operations')
    async detailed(@Res({ passthrough: true }) reply: FastifyReply): Promise<DetailedHealthDto> {
      return withStatus(reply, await this.health.detailed());
    }

    @ReadsLiveness(access)
    live(): LivenessDto {
      return { status: 'alive' };
    }

    @ReadsReadiness(access)
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
export class HealthController extends HealthReads('public') {
  constructor(health: HealthService) {
    super(health);
  }
}

/** The same operations under /api. All of them, even /api/live, need a key and therefore the database. */
@ApiTags(TWINS_UNDER_API)
@Controller('api')
export class ApiHealthController extends HealthReads('operations') {
  constructor(health: HealthService) {
    super(health);
  }
}
