import type { FastifyReply } from 'fastify';
import type {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';
import type { HealthService } from './health.service.js';

/** What the addresses of health answer, wherever they are. */
export abstract class HealthAnswers {
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
