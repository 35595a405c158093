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
import { Draining } from '../platform/http/listening.js';
import { version } from '../platform/config/process.js';
import type { DatabaseObstacle, DetailedHealthDto, HealthDto, Obstacles } from './health.dto.js';

const CHECK_TIMEOUT_MS = 2_000;
const FAILED = { status: 'unhealthy', message: 'The check failed or took too long.' } as const;
/** Time for which a check result is used again. Concurrent probes share one check. */
export const CHECK_CACHE_MS = 500;

@Injectable()
export class HealthService {
  private readonly startedAt = performance.now();
  private readonly recent = new Map<
    ComponentName,
    { readonly found: Promise<HealthIndicatorResult>; readonly until: number }
  >();

  constructor(
    private readonly checks: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly components: HealthComponents,
    private readonly draining: Draining,
  ) {}

  async detailed(): Promise<DetailedHealthDto> {
    const components = await this.check(COMPONENTS);
    const isIn = (...statuses: readonly string[]) =>
      Object.values(components).some(({ status }) => statuses.includes(status));
    const isImpaired = isIn('unhealthy', 'degraded');
    // Failures of other components only impair the service.
    const isDown = components.database.status === 'unhealthy';
    return {
      status: isDown ? 'unhealthy' : isImpaired ? 'degraded' : 'healthy',
      version,
      uptime_seconds: Math.floor((performance.now() - this.startedAt) / 1000),
      components,
    };
  }

  async brief(): Promise<HealthDto> {
    const { status, uptime_seconds } = await this.detailed();
    return { status, version, uptime_seconds };
  }

  async obstacles(): Promise<Obstacles> {
    if (this.draining.begun) return { service: 'stopping' };
    const { status, obstacle } = (await this.check(['database'])).database;
    if (status !== 'unhealthy') return {};
    // If the result has no obstacle, the check itself timed out.
    return { database: (obstacle as DatabaseObstacle | undefined) ?? 'unreachable' };
  }

  private async check<Name extends ComponentName>(
    names: readonly Name[],
  ): Promise<Record<Name, ComponentHealth>> {
    const checks = this.checks.check(names.map((name) => () => this.indicate(name)));
    const { details } = await checks.catch((error: unknown) => {
      // Terminus throws if a check failed or the service stops. The exception contains the result.
      if (!(error instanceof ServiceUnavailableException)) throw error;
      return error.getResponse() as HealthCheckResult;
    });
    const found = names.map((name) => [name, details[name]?.['component'] ?? FAILED] as const);
    return Object.fromEntries(found) as Record<Name, ComponentHealth>;
  }

  /** Replaces the cache of Terminus, which keeps entries for too long if the wall clock is set back. */
  private indicate(name: ComponentName): Promise<HealthIndicatorResult> {
    const latest = this.recent.get(name);
    if (latest && performance.now() < latest.until) return latest.found;
    const attempt = this.indicators
      .check(name)
      .attempt(async () => ({ component: await this.components.check(name) }))
      .withTimeout(CHECK_TIMEOUT_MS);
    const check = { found: Promise.resolve(attempt), until: Infinity };
    this.recent.set(name, check);
    void check.found.finally(() => (check.until = performance.now() + CHECK_CACHE_MS));
    return check.found;
  }
}
