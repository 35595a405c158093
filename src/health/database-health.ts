import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { HealthComponents } from '../common/health-components.js';
import { poolOf } from '../database/data-source.js';
import { Statements } from '../database/statements.js';

const PING = { name: 'health_ping', text: 'select 1' };

@Injectable()
export class DatabaseHealth {
  constructor(components: HealthComponents, statements: Statements, dataSource: DataSource) {
    components.register('database', async () => {
      await statements.rows(PING);
      const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
      return {
        status: 'healthy',
        connections: totalCount,
        busy: totalCount - idleCount,
        waiting: waitingCount,
      };
    });
  }
}
