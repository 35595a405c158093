import type { Db } from 'pg-boss';
import { BOSS_SCHEMA } from './boss-options.js';

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
