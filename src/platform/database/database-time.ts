// SQL: the time of the database.
import type { DataSource } from 'typeorm';
import { learnTime } from '../clock.js';

const TIME = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as told`;

/** Measures how far the clock of this machine is from that of the database, by which the process goes from then on. */
export async function followDatabaseTime(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    // To wait for a free connection is no part of what is measured.
    await runner.connect();
    const [asked, begin] = [Date.now(), performance.now()];
    const [row] = await runner.manager.query<{ told: number }[]>(TIME);
    learnTime({ asked, told: row!.told, answered: asked + performance.now() - begin });
  } finally {
    await runner.release();
  }
}
