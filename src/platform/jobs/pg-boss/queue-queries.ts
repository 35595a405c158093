// SQL: the tables are those of pg-boss, for which there are no entities.
import type { Db } from 'pg-boss';
import { BOSS_SCHEMA, DEAD_QUEUE, periodicQueueName } from './boss-options.js';
import type { QueueState } from '../jobs.js';

/** One look at all queues instead of one fetch each: almost always there is nothing, and this finds it in an index. */
const DUE = `
  select wanted.name
    from unnest($1::text[]) as wanted(name)
   where exists (
     select from ${BOSS_SCHEMA}.job
      where job.name = wanted.name and job.state < 'active' and not job.blocked
        and job.start_after <= now())`;

export async function dueQueues(db: Db, queues: readonly string[]): Promise<string[]> {
  const { rows }: { rows: { name: string }[] } = await db.executeSql(DUE, [queues]);
  return rows.map(({ name }) => name);
}

/** Done jobs are deleted, so the table is as small as the backlog. */
const STATES = `
  select queue, sum(waiting)::int as waiting, sum(active)::int as active, sum(dead)::int as dead
    from (
      select case when name = '${DEAD_QUEUE}' then source_name else name end as queue,
             case when name <> '${DEAD_QUEUE}' and state in ('created', 'retry') then 1 else 0 end as waiting,
             case when name <> '${DEAD_QUEUE}' and state = 'active' then 1 else 0 end as active,
             case when name = '${DEAD_QUEUE}' and state = 'created' then 1 else 0 end as dead
        from ${BOSS_SCHEMA}.job
       where name not like '${periodicQueueName('%')}'
       union all
      select name, 0, 0, 0 from unnest($1::text[]) as worked(name)) as jobs
   where queue is not null
   group by queue
   order by queue`;

export async function queueStates(db: Db, queues: readonly string[]): Promise<QueueState[]> {
  const { rows }: { rows: QueueState[] } = await db.executeSql(STATES, [queues]);
  return rows;
}
