import type { PoolConfig } from 'pg';
import { PgBoss } from 'pg-boss';
import { BossDatabase } from './boss-database.js';
import { BOSS_OPTIONS } from './boss-options.js';

/** Makes the schema of the job queue or brings it up to date, for a service that may not do so itself. */
export async function installBoss(connection: PoolConfig): Promise<void> {
  const db = new BossDatabase(connection);
  const boss = new PgBoss({ ...BOSS_OPTIONS, db, supervise: false });
  const failure = new Promise<never>((_, reject) => boss.once('error', reject));
  try {
    await Promise.race([boss.start(), failure]);
  } finally {
    failure.catch(() => undefined);
    await boss.stop({ graceful: false });
    await db.close();
  }
}
