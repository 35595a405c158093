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
import { within } from '../platform/concurrency/within.js';
import { Draining } from '../platform/http/listening.js';
import { version } from '../platform/config/process.js';
import type {
  DatabaseObstacle,
  DetailedHealthDto,
  HealthDto,
  Obstacles,
  OverallStatus,
} from './health.dto.js';

const CHECK_TIMEOUT_MS = 2_000;
const FAILED = { status: 'unhealthy', message: 'The check failed or took too long.' } as const;
/** Concurrent probes share one check. */
export const CHECK_CACHE_MS = 500;

/** Maps the results of Terminus to the terms of this API. Each component is an indicator. */
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
    const result = await this.check(COMPONENTS);
    const found = COMPONENTS.map((name) => [name, componentIn(result, name)]);
    return {
      status: overallOf(result),
      version,
      uptime_seconds: Math.floor((performance.now() - this.startedAt) / 1000),
      components: Object.fromEntries(found) as Record<ComponentName, ComponentHealth>,
    };
  }

  async brief(): Promise<HealthDto> {
    const { status, uptime_seconds } = await this.detailed();
    return { status, version, uptime_seconds };
  }

  /** Returns the reasons why the service does not accept requests; empty if it is ready. */
  async obstacles(): Promise<Obstacles> {
    if (this.draining.begun) return { service: 'stopping' };
    const { status, obstacle } = componentIn(await this.check(['database']), 'database');
    if (status !== 'unhealthy') return {};
    // If the result has no obstacle, the check itself timed out.
    return { database: (obstacle as DatabaseObstacle | undefined) ?? 'unreachable' };
  }

  private async check(names: readonly ComponentName[]): Promise<HealthCheckResult> {
    try {
      return await this.checks.check(names.map((name) => () => this.indicate(name)));
    } catch (error) {
      // Terminus throws if a component is down or the service stops. The exception contains the result.
      if (!(error instanceof ServiceUnavailableException)) throw error;
      return error.getResponse() as HealthCheckResult;
    }
  }

  /** The cache of Terminus uses the wall clock. If the clock is set to an earlier time, entries stay longer in the cache. */
  private indicate(name: ComponentName): Promise<HealthIndicatorResult> {
    const latest = this.recent.get(name);
    if (latest && performance.now() < latest.until) return latest.found;
    const check = { found: this.examine(name), until: Infinity };
    this.recent.set(name, check);
    void check.found.finally(() => (check.until = performance.now() + CHECK_CACHE_MS));
    return check.found;
  }

  /** Checks a component. Only a database failure makes the service unhealthy. Other failures make it degraded. */
  private async examine(name: ComponentName): Promise<HealthIndicatorResult> {
    const check = this.components.check(name).catch(() => FAILED);
    const component = await within(CHECK_TIMEOUT_MS, check, () => FAILED);
    const indicator = this.indicators.check(name);
    if (component.status === 'healthy' || component.status === 'disabled') {
      return indicator.up({ component });
    }
    const isFatal = name === 'database' && component.status === 'unhealthy';
    return isFatal ? indicator.down({ component }) : indicator.degraded({ component });
  }
}

function componentIn({ details }: HealthCheckResult, name: ComponentName): ComponentHealth {
  return details[name]!['component'] as ComponentHealth;
}

/** While the service stops, the status of Terminus does not reflect the components. */
function overallOf({ details }: HealthCheckResult): OverallStatus {
  const found = Object.values(details).map(({ status }) => status);
  if (found.includes('down')) return 'unhealthy';
  return found.includes('degraded') ? 'degraded' : 'healthy';
}
