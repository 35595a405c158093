import { Choice, JsonObject, Nested, Text, WholeNumber } from '../platform/validation/fields.js';
import { HealthComponentsDto } from './health-components.dto.js';
import { type Obstacles, OBSTACLES_IN_WORDS } from './obstacles.js';

const OVERALL = ['healthy', 'degraded', 'unhealthy'] as const;
export type OverallStatus = (typeof OVERALL)[number];

export class HealthDto {
  @Choice('HealthStatus', OVERALL)
  readonly status: OverallStatus;

  @Text()
  readonly version: string;

  @WholeNumber({ min: 0 })
  readonly uptime_seconds: number;
}

export class DetailedHealthDto extends HealthDto {
  @Nested(() => HealthComponentsDto)
  readonly components: HealthComponentsDto;
}

export class LivenessDto {
  @Choice('LivenessStatus', ['alive'])
  readonly status: 'alive';
}

export class ReadinessDto {
  @Choice('ReadinessStatus', ['ready'])
  readonly status: 'ready';
}

export class UnreadinessDto {
  @Choice('UnreadinessStatus', ['not_ready'])
  readonly status: 'not_ready';

  @JsonObject({
    contract: { type: 'object', additionalProperties: { type: 'string' } },
    description: `Obstacles that keep the service from being ready, by component. An open set; currently:\n${OBSTACLES_IN_WORDS}`,
  })
  readonly checks: Obstacles;
}
