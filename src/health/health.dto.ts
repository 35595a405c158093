import { Choice, JsonObject, Nested, Text, WholeNumber } from '../platform/validation/fields.js';
import { HealthComponentsDto } from './health-components.dto.js';
import { type Obstacles, OBSTACLES_IN_WORDS } from './obstacles.js';

const OVERALL = ['healthy', 'degraded', 'unhealthy'] as const;
export type OverallStatus = (typeof OVERALL)[number];

export class HealthDto {
  @Choice('HealthStatus', OVERALL, { example: 'healthy' })
  readonly status: OverallStatus;

  @Text({ example: '0.1.0' })
  readonly version: string;

  @WholeNumber({ min: 0, example: 86_400 })
  readonly uptime_seconds: number;
}

const COMPONENTS_EXAMPLE = {
  database: { status: 'healthy', clock_offset_seconds: 0, connections: 4, busy: 1, waiting: 0 },
  redis: { status: 'disabled', message: 'REDIS_URL is not set: each replica counts for itself.' },
  llm: { status: 'healthy', provider: 'rules' },
  connectors: { status: 'degraded', message: '1 of 3 connectors does not answer.' },
  kill_switch: { status: 'healthy', active: false },
  jobs: {
    status: 'healthy',
    waiting: 0,
    webhook_events_queued: 0,
    webhook_events_failed: 2,
    playbook_runs_due: 0,
  },
  notifications: {
    status: 'degraded',
    message: '1 of 3 channels has failed for more than ten minutes.',
    total: 3,
    waiting: 12,
    unhealthy: ['soc'],
  },
  access: { status: 'healthy', made_up_password: false },
  audit: { status: 'healthy', unsealed: 3 },
};

export class DetailedHealthDto extends HealthDto {
  @Nested(() => HealthComponentsDto, { example: COMPONENTS_EXAMPLE })
  readonly components: HealthComponentsDto;
}

export class LivenessDto {
  @Choice('LivenessStatus', ['alive'], { example: 'alive' })
  readonly status: 'alive';
}

export class ReadinessDto {
  @Choice('ReadinessStatus', ['ready'], { example: 'ready' })
  readonly status: 'ready';
}

export class UnreadinessDto {
  @Choice('UnreadinessStatus', ['not_ready'], { example: 'not_ready' })
  readonly status: 'not_ready';

  @JsonObject({
    contract: { type: 'object', additionalProperties: { type: 'string' } },
    description: `What keeps the service from being ready, by the part of it. An open set; now:\n${OBSTACLES_IN_WORDS}`,
    example: { database: 'unreachable' },
  })
  readonly checks: Obstacles;
}
