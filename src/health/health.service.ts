import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import {
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
} from '@nestjs/terminus';
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
export const CHECK_CACHE_MS = 500;

/** What Terminus finds, in the words of this API: each part is an indicator, and keeps what its module said of it. */
@Injectable()
export class HealthService {
  private readonly startedAt = performance.now();
  private readonly looks = new Map<
    ComponentName,
    { readonly found: Promise<ComponentHealth>; readonly until: number }
  >();

  constructor(
    private readonly checks: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly components: HealthComponents,
    private readonly draining: Draining,
  ) {}

  async detailed(): Promise<DetailedHealthDto> {
    const result = await this.check(COMPONENTS);
    const found = COMPONENTS.map((name) => [name, componentIn(result, name)]);
    const components = Object.fromEntries(found) as Record<ComponentName, ComponentHealth>;
    return { ...this.summary(overallOf(result)), components };
  }

  async brief(): Promise<HealthDto> {
    return this.summary(overallOf(await this.check(COMPONENTS)));
  }

  /** Names what keeps the service from taking requests; empty when it is ready. */
  async obstacles(): Promise<Obstacles> {
    if (this.draining.begun) return { service: 'stopping' };
    const { status, obstacle } = componentIn(await this.check(['database']), 'database');
    if (status !== 'unhealthy') return {};
    // Without a word of its own the check itself took too long.
    return { database: isDatabaseObstacle(obstacle) ? obstacle : 'unreachable' };
  }

  private summary(status: OverallStatus): HealthDto {
    return {
      status,
      version,
      uptime_seconds: Math.floor((performance.now() - this.startedAt) / 1000),
    };
  }

  private async check(names: readonly ComponentName[]): Promise<HealthCheckResult> {
    try {
      return await this.checks.check(names.map((name) => () => this.indicate(name)));
    } catch (error) {
      // How Terminus says that something is down, and while the service stops: the result is in the exception.
      if (!(error instanceof ServiceUnavailableException)) throw error;
      return error.getResponse() as HealthCheckResult;
    }
  }

  /** Without a database nothing works; any other part that is down leaves the core working, so the whole is degraded. */
  private async indicate(name: ComponentName): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(name);
    const component = await this.look(name);
    if (component.status === 'healthy' || component.status === 'disabled') {
      return indicator.up({ component });
    }
    const isFatal = name === 'database' && component.status === 'unhealthy';
    return isFatal ? indicator.down({ component }) : indicator.degraded({ component });
  }

  /** Not the cache of Terminus, which goes by the clock of the machine: set back an hour, it would last for an hour. */
  private look(name: ComponentName): Promise<ComponentHealth> {
    const latest = this.looks.get(name);
    if (latest && performance.now() < latest.until) return latest.found;
    const look = { found: this.attempt(name), until: Infinity };
    this.looks.set(name, look);
    void look.found.finally(() => (look.until = performance.now() + CHECK_CACHE_MS));
    return look.found;
  }

  private async attempt(name: ComponentName): Promise<ComponentHealth> {
    const result = await this.indicators
      .check(name)
      .attempt(async () => ({ component: await this.components.check(name) }))
      .withTimeout(CHECK_TIMEOUT_MS);
    return (
      (result[name]['component'] as ComponentHealth | undefined) ?? {
        status: 'unhealthy',
        message: 'The check failed or took too long.',
      }
    );
  }
}

function componentIn({ details }: HealthCheckResult, name: ComponentName): ComponentHealth {
  return details[name]!['component'] as ComponentHealth;
}

/** Not the status of Terminus, which says nothing of the parts while the service stops. */
function overallOf({ details }: HealthCheckResult): OverallStatus {
  const found = Object.values(details).map(({ status }) => status);
  if (found.includes('down')) return 'unhealthy';
  return found.includes('degraded') ? 'degraded' : 'healthy';
}
