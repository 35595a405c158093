import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ComponentHealth, HealthComponents } from '../common/health-components.js';
import { poolOf } from '../database/data-source.js';
import { isDatabaseUnavailable, SQLSTATE, sqlStateOf } from '../database/sqlstate.js';
import { Statements } from '../database/statements.js';

/** Writes, because a server whose disk is full or that became a standby still answers every read. */
const PROBE = { name: 'health_probe_writes', text: 'select probe_writes()' };

/** The database's obstacle in one word for `/ready`, and in a sentence for people. */
interface Obstacle {
  readonly obstacle: string;
  readonly message: string;
}

const UNREACHABLE: Obstacle = {
  obstacle: 'unreachable',
  message: 'The database cannot be reached.',
};
const REFUSING: Obstacle = {
  obstacle: 'refuses writes',
  message: 'The database refuses to be written to; the log has the reason.',
};
const BY_STATE: Readonly<Record<string, Obstacle>> = {
  [SQLSTATE.readOnlyTransaction]: {
    obstacle: 'read-only',
    message: 'The database is read-only: nothing can be changed.',
  },
  [SQLSTATE.diskFull]: {
    obstacle: 'disk full',
    message: 'The disk of the database is full: nothing can be added.',
  },
};

@Injectable()
export class DatabaseHealth {
  private readonly logger = new Logger('Database');
  private toldOf: string | undefined;

  constructor(
    components: HealthComponents,
    private readonly statements: Statements,
    private readonly dataSource: DataSource,
  ) {
    components.register('database', () => this.check());
  }

  private async check(): Promise<ComponentHealth> {
    try {
      await this.statements.rows(PROBE);
    } catch (error) {
      const { obstacle, message } = obstacleOf(error);
      this.tell(obstacle, message, error);
      return { status: 'unhealthy', obstacle, message };
    }
    this.toldOf = undefined;
    const { totalCount, idleCount, waitingCount } = poolOf(this.dataSource);
    return {
      status: 'healthy',
      connections: totalCount,
      busy: totalCount - idleCount,
      waiting: waitingCount,
    };
  }

  /** Once, not at each probe. */
  private tell(obstacle: string, message: string, error: unknown): void {
    if (this.toldOf === obstacle) return;
    this.toldOf = obstacle;
    this.logger.error({ err: error }, message);
  }
}

function obstacleOf(error: unknown): Obstacle {
  const known = BY_STATE[sqlStateOf(error) ?? ''];
  return known ?? (isDatabaseUnavailable(error) ? UNREACHABLE : REFUSING);
}
