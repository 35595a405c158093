import { Injectable } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
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
/** Concurrent probes share one check. */
export const CHECK_CACHE_MS = 500;

@Injectable()
export class HealthService {
  private readonly startedAt = performance.now();
  private readonly recent = new Map<
    ComponentName,
    { readonly health: Promise<ComponentHealth>; readonly until: number }
  >();

  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly components: HealthComponents,
    private readonly draining: Draining,
  ) {}

  async detailed(): Promise<DetailedHealthDto> {
    const components = await this.check(COMPONENTS);
    const isIn = (...statuses: readonly string[]) =>
      Object.values(components).some(({ status }) => statuses.includes(status));
    const isImpaired = isIn('unhealthy', 'degraded');
    // The other components only impair the service.
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

  /** Returns the reasons why the service does not accept requests; empty if it is ready. */
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
    const found = await Promise.all(names.map((name) => this.healthOf(name)));
    const entries = names.map((name, index) => [name, found[index]!] as const);
    return Object.fromEntries(entries) as Record<Name, ComponentHealth>;
  }

  /** The cache of Terminus uses the wall clock. If the clock is set to an earlier time, entries stay longer in the cache. */
  private healthOf(name: ComponentName): Promise<ComponentHealth> {
    const latest = this.recent.get(name);
    if (latest && performance.now() < latest.until) return latest.health;
    const check = { health: this.read(name), until: Infinity };
    this.recent.set(name, check);
    void check.health.finally(() => (check.until = performance.now() + CHECK_CACHE_MS));
    return check.health;
  }

  private async read(name: ComponentName): Promise<ComponentHealth> {
    const attempt = this.indicators
      .check(name)
      .attempt(async () => ({ component: await this.components.check(name) }));
    const { component } = (await attempt.withTimeout(CHECK_TIMEOUT_MS))[name];
    return (component as ComponentHealth | undefined) ?? FAILED;
  }
}
