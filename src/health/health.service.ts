import { Injectable } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import {
  type ComponentHealth,
  COMPONENTS,
  type ComponentName,
  HealthComponents,
} from '../platform/health-components.js';
import { Draining } from '../platform/http/draining.js';
import { version } from '../platform/config/version.js';
import type { DetailedHealthDto, HealthDto, OverallStatus } from './health.dto.js';
import { isDatabaseObstacle, type Obstacles } from './obstacles.js';

const CHECK_TIMEOUT_MS = 2_000;
/** Probes of several kinds come every second or so: they share one look. */
const CHECK_CACHE_MS = 500;

@Injectable()
export class HealthService {
  private readonly startedAt = Date.now();

  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly components: HealthComponents,
    private readonly draining: Draining,
  ) {}

  async detailed(): Promise<DetailedHealthDto> {
    const checked = await Promise.all(
      COMPONENTS.map(async (name) => [name, await this.look(name)] as const),
    );
    const components = Object.fromEntries(checked) as Record<ComponentName, ComponentHealth>;
    return { ...this.summary(overallOf(components)), components };
  }

  async brief(): Promise<HealthDto> {
    const { status } = await this.detailed();
    return this.summary(status);
  }

  /** Names what keeps the service from taking requests; empty when it is ready. */
  async obstacles(): Promise<Obstacles> {
    if (this.draining.begun) return { service: 'stopping' };
    const { status, obstacle } = await this.look('database');
    // Without a word of its own the check itself took too long.
    if (status !== 'unhealthy') return {};
    return { database: isDatabaseObstacle(obstacle) ? obstacle : 'unreachable' };
  }

  private summary(status: OverallStatus): HealthDto {
    return { status, version, uptime_seconds: Math.floor((Date.now() - this.startedAt) / 1000) };
  }

  private async look(name: ComponentName): Promise<ComponentHealth> {
    const result = await this.indicators
      .check(name)
      .attempt(async () => ({ seen: await this.components.check(name) }))
      .withTimeout(CHECK_TIMEOUT_MS)
      .cacheFor(CHECK_CACHE_MS);
    const seen = result[name]['seen'] as ComponentHealth | undefined;
    return seen ?? { status: 'unhealthy', message: 'The check failed or took too long.' };
  }
}

/** Without a database nothing works; any other part that is down leaves the core working. */
export function overallOf(
  components: Readonly<Record<ComponentName, ComponentHealth>>,
): OverallStatus {
  if (components.database.status === 'unhealthy') return 'unhealthy';
  const impaired = Object.values(components).some(
    ({ status }) => status === 'unhealthy' || status === 'degraded',
  );
  return impaired ? 'degraded' : 'healthy';
}
