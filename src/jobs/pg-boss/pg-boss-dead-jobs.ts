import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Db, PgBoss } from 'pg-boss';
import { isUuid } from '../../common/ids.js';
import { poolOf } from '../../database/data-source.js';
import { DeadJobs, type DeadJobsFilter } from '../dead-jobs.js';
import type { DeadJob } from '../jobs.js';
import { BOSS_OPTIONS, BOSS_SCHEMA, DEAD_QUEUE } from './boss-options.js';

const LIST = `
  select id, source_name as queue, source_retry_count + 1 as attempts,
         coalesce(source_output ->> 'message', source_output -> 'value' ->> 'message', 'unknown') as error,
         data, source_created_on as "enqueuedAt", created_on as "diedAt"
    from ${BOSS_SCHEMA}.job
   where name = '${DEAD_QUEUE}' and state = 'created' and ($1::text is null or source_name = $1)
   order by created_on desc, id
   limit $2`;

@Injectable()
export class PgBossDeadJobs extends DeadJobs {
  private readonly db: Db;

  constructor(dataSource: DataSource) {
    super();
    this.db = { executeSql: (text, values) => poolOf(dataSource).query(text, values) };
  }

  async list({ queue, limit = 100 }: DeadJobsFilter = {}): Promise<DeadJob[]> {
    const { rows }: { rows: DeadJob[] } = await this.db.executeSql(LIST, [queue ?? null, limit]);
    return rows;
  }

  async requeue(id: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    // Not started: it only writes, and works without the workers of this process.
    const boss = new PgBoss({ ...BOSS_OPTIONS, db: this.db });
    return (await boss.redrive(DEAD_QUEUE, { ids: [id] })) === 1;
  }
}
