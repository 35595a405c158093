// SQL: the check is a function of the database.
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { within } from '../platform/concurrency/within.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { poolOf } from '../platform/database/data-source.js';
import { isOutageLogged } from '../platform/database/outage.js';
import { isDatabaseUnavailable, SQLSTATE, sqlStateOf } from '../platform/database/sqlstate.js';
import { Statements } from '../platform/database/statements.js';
import { ClockWatch } from './clock-watch.js';
import { DATABASE_OBSTACLES, type DatabaseObstacle } from './obstacles.js';
import { LimitStorage } from '../platform/limits/limit-storage.js';

/** Writes, because a server with a full disk or a standby still answers reads. */
const PROBE = { name: 'health_probe_writes', text: 'select probe_writes()' };

/** Shorter than a scrape timeout, so that a hanging database counts as down and its gauge is never absent. */
const SCRAPE_PATIENCE_MS = 800;

const BY_STATE: Readonly<Record<string, DatabaseObstacle>> = {
  [SQLSTATE.readOnlyTransaction]: 'read-only',
  [SQLSTATE.diskFull]: 'disk full',
};

@Injectable()
export class DatabaseHealth implements OnModuleInit {
  private readonly logger = new Logger('Database');
  private toldOf: string | undefined;

  constructor(
    private readonly components: HealthComponents,
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('database_up') private readonly up: Gauge,
    private readonly clock: ClockWatch,
  ) {}

  onModuleInit(): void {
    this.components.register('database', () => this.check());
    this.gauges.register(this.up, () =>
      within(
        SCRAPE_PATIENCE_MS,
        this.check().then(({ status }) => Number(status !== 'unhealthy')),
        () => 0,
      ),
    );
  }

  private async check(): Promise<ComponentHealth> {
    try {
      await this.statements.rows(PROBE);
    } catch (error) {
      const obstacle = obstacleOf(error);
      const message = DATABASE_OBSTACLES[obstacle];
      this.tell(obstacle, message, error);
      return { status: 'unhealthy', obstacle, message };
    }
    this.toldOf = undefined;
    const { totalCount, idleCount, waitingCount } = poolOf(this.dataSource);
    const complaint = this.clock.complaint();
    return {
      status: complaint ? 'degraded' : 'healthy',
      ...(complaint && { message: complaint }),
      clock_offset_seconds: this.clock.offsetSeconds(),
      connections: totalCount,
      busy: totalCount - idleCount,
      waiting: waitingCount,
    };
  }

  /** Logs an obstacle once, and not if the pool has already reported the outage. */
  private tell(obstacle: DatabaseObstacle, message: string, error: unknown): void {
    const isLogged = ['unreachable', 'read-only'].includes(obstacle) && isOutageLogged();
    if (this.toldOf === obstacle || isLogged) return;
    this.toldOf = obstacle;
    this.logger.error({ err: error }, message);
  }
}

function obstacleOf(error: unknown): DatabaseObstacle {
  const known = BY_STATE[sqlStateOf(error) ?? ''];
  return known ?? (isDatabaseUnavailable(error) ? 'unreachable' : 'refuses writes');
}

/** Redis only counts the rate limits of all replicas. Without it each replica counts its own requests. */
@Injectable()
export class RedisHealth implements OnModuleInit {
  constructor(
    private readonly limits: LimitStorage,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('redis_up') private readonly up: Gauge,
  ) {}

  onModuleInit(): void {
    this.components.register('redis', () => this.check());
    this.gauges.register(this.up, async () => {
      const works = await this.limits.sharedWorks();
      return works === undefined ? undefined : Number(works);
    });
  }

  private async check(): Promise<ComponentHealth> {
    switch (await this.limits.sharedWorks()) {
      case undefined:
        return {
          status: 'disabled',
          message: 'REDIS_URL is not set: each replica counts its own requests.',
        };
      case true:
        return { status: 'healthy' };
      case false:
        return {
          status: 'degraded',
          message: 'Redis does not count the rate limits: each replica counts its own requests.',
        };
    }
  }
}
