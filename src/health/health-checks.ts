// SQL: calls a database function that checks writes.
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { clockAheadMs } from '../platform/clock.js';
import { BackgroundLoop } from '../platform/concurrency/background-loop.js';
import { within } from '../platform/concurrency/within.js';
import { followDatabaseTime, poolOf } from '../platform/database/data-source.js';
import { isDatabaseUnavailable, SQLSTATE, sqlStateOf } from '../platform/database/sqlstate.js';
import { Statements } from '../platform/database/statements.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { LimitStorage } from '../platform/limits/limit-storage.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { type DatabaseObstacle, OBSTACLES } from './health.dto.js';

const CLOCK_PAUSE_MS = 10_000;
const MEASURED_WITHIN_MS = 60_000;
/** Difference between two clocks that affects certificates, vendor tokens and times in the log. */
const DEGRADED_FROM_MS = 30_000;

function offsetSeconds(): number | undefined {
  const aheadMs = clockAheadMs(MEASURED_WITHIN_MS);
  return aheadMs === undefined ? undefined : aheadMs / 1000;
}

function clockMessage(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${seconds} s ${way} the clock of the database. Times are taken from the database. Correct the clock.`;
}

/** Writes to the database, because a server with a full disk or a standby still answers reads. */
const PROBE = { name: 'health_probe_writes', text: 'select probe_writes()' };

/** Shorter than a scrape timeout, so that a hanging database counts as down and the gauge is never absent. */
const SCRAPE_PATIENCE_MS = 800;
const TOO_SLOW = { status: 'unhealthy' } as const;

const BY_STATE: Readonly<Record<string, DatabaseObstacle>> = {
  [SQLSTATE.readOnlyTransaction]: 'read-only',
  [SQLSTATE.diskFull]: 'disk full',
};

const KILL_SWITCH_UNREADABLE =
  'The kill switch cannot be read, so it counts as on: no action, look-up or model call starts.';

/** Checks the database and its clock, the kill switch, and Redis, which only counts the limits of all replicas. */
@Injectable()
export class HealthChecks implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Database');
  private loggedObstacle: string | undefined;
  private readonly clock = new BackgroundLoop(
    { task: 'Comparing the clock', log: this.logger, pauseMs: CLOCK_PAUSE_MS },
    () => followDatabaseTime(this.dataSource),
  );

  constructor(
    private readonly components: HealthComponents,
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
    private readonly limits: LimitStorage,
    private readonly killSwitch: KillSwitch,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.clock.start();
    this.components.register('database', () => this.database());
    this.components.register('redis', () => this.redis());
    this.components.register('kill_switch', () => this.switchHealth());
    this.gauges.register('database_up', async () => {
      const { status } = await within(SCRAPE_PATIENCE_MS, this.database(), () => TOO_SLOW);
      return Number(status !== 'unhealthy');
    });
    this.gauges.register('db_pool_connections_active', () => {
      const { totalCount, idleCount } = poolOf(this.dataSource);
      return totalCount - idleCount;
    });
    this.gauges.register('redis_up', async () => {
      const works = await this.limits.sharedWorks();
      return works === undefined ? undefined : Number(works);
    });
    this.gauges.register('clock_offset_seconds', offsetSeconds);
    this.gauges.register('kill_switch_active', async () => {
      const state = await this.readSwitch();
      return state && Number(state.active);
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.clock.stop();
  }

  private readSwitch() {
    return within(SCRAPE_PATIENCE_MS, this.killSwitch.readIfPossible(), () => undefined);
  }

  private async switchHealth(): Promise<ComponentHealth> {
    const state = await this.readSwitch();
    // Omits `active`, so that a database outage does not look like an activation.
    if (!state) return { status: 'degraded', message: KILL_SWITCH_UNREADABLE };
    const { active, reason } = state;
    if (!active) return { status: 'healthy', active };
    return { status: 'degraded', active, message: `The kill switch is on: ${reason}` };
  }

  private async redis(): Promise<ComponentHealth> {
    const works = await this.limits.sharedWorks();
    if (works) return { status: 'healthy' };
    const consequence = 'each replica counts its own requests.';
    return works === undefined
      ? { status: 'disabled', message: `REDIS_URL is not set: ${consequence}` }
      : { status: 'degraded', message: `Redis does not count the rate limits: ${consequence}` };
  }

  private async database(): Promise<ComponentHealth> {
    try {
      await this.statements.rows(PROBE);
    } catch (error) {
      const obstacle = obstacleOf(error);
      const message = OBSTACLES.database[obstacle];
      if (this.loggedObstacle !== obstacle) this.logger.error({ err: error }, message);
      this.loggedObstacle = obstacle;
      return { status: 'unhealthy', obstacle, message };
    }
    if (this.loggedObstacle) this.logger.log('The database works again.');
    this.loggedObstacle = undefined;
    const { totalCount, idleCount, waitingCount } = poolOf(this.dataSource);
    const aheadMs = clockAheadMs(MEASURED_WITHIN_MS) ?? 0;
    const isWrong = Math.abs(aheadMs) >= DEGRADED_FROM_MS;
    return {
      status: isWrong ? 'degraded' : 'healthy',
      ...(isWrong && { message: clockMessage(aheadMs) }),
      clock_offset_seconds: offsetSeconds(),
      connections: totalCount,
      busy: totalCount - idleCount,
      waiting: waitingCount,
    };
  }
}

function obstacleOf(error: unknown): DatabaseObstacle {
  const known = BY_STATE[sqlStateOf(error) ?? ''];
  return known ?? (isDatabaseUnavailable(error) ? 'unreachable' : 'refuses writes');
}
