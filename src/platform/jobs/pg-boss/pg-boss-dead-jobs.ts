// SQL: the tables are those of pg-boss, for which there are no entities.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Db, PgBoss } from 'pg-boss';
import { isUuid } from '../../ids.js';
import { poolOf } from '../../database/data-source.js';
import type { Page } from '../../paging/page.js';
import { DeadJobs, type DeadJobsQuery } from '../dead-jobs.js';
import type { DeadJob } from '../jobs.js';
import type { Tx } from '../../database/transactions.js';
import { databaseIn } from './boss-database.js';
import { BOSS_OPTIONS, BOSS_SCHEMA, DEAD_QUEUE } from './boss-options.js';

const DEAD = `
    from ${BOSS_SCHEMA}.job
   where name = '${DEAD_QUEUE}' and state = 'created' and ($1::text is null or source_name = $1)`;

const COUNT = `select count(*)::int as total ${DEAD}`;

const list = (direction: 'asc' | 'desc'): string => `
  select id, source_name as queue, source_retry_count + 1 as attempts,
         coalesce(source_output ->> 'message', source_output -> 'value' ->> 'message', 'unknown') as error,
         data, source_created_on as "enqueuedAt", created_on as "diedAt"
  ${DEAD}
   order by created_on ${direction}, id ${direction}
   limit $2 offset $3`;

@Injectable()
export class PgBossDeadJobs extends DeadJobs {
  private readonly db: Db;

  constructor(dataSource: DataSource) {
    super();
    this.db = { executeSql: (text, values) => poolOf(dataSource).query(text, values) };
  }

  async list({ queue, page, per_page, ascending = false }: DeadJobsQuery): Promise<Page<DeadJob>> {
    const name = queue ?? null;
    const counted: { rows: { total: number }[] } = await this.db.executeSql(COUNT, [name]);
    const found: { rows: DeadJob[] } = await this.db.executeSql(list(ascending ? 'asc' : 'desc'), [
      name,
      per_page,
      (page - 1) * per_page,
    ]);
    return { items: found.rows, total: counted.rows[0]?.total ?? 0 };
  }

  async requeue(tx: Tx, id: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    // Not started: it only writes, and works without the workers of this process.
    const boss = new PgBoss({ ...BOSS_OPTIONS, db: databaseIn(tx) });
    return (await boss.redrive(DEAD_QUEUE, { ids: [id] })) === 1;
  }
}
