import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Draining } from './common/http/draining.js';
import type { Settings } from './config/settings.js';
import type { OpenDatabase } from './database/open-database.js';

/**
 * On SIGTERM and SIGINT: readiness fails at once, requests are still taken for the delay that a load balancer needs,
 * then what runs may finish within the grace, and the database goes last. A second signal does not shorten it.
 */
export function stopGracefully(
  app: NestFastifyApplication,
  database: OpenDatabase,
  settings: Settings,
  logger: Logger,
): void {
  const stop = async (signal: string): Promise<void> => {
    const draining = app.get(Draining);
    if (draining.begun) return;
    draining.begin();
    logger.info(`${signal}: stopping.`);
    await sleep(settings.shutdownDelayMs);
    const closed = await Promise.race([
      app.close().then(() => true),
      sleep(settings.shutdownGraceMs, false, { ref: false }),
    ]);
    if (!closed)
      logger.warn('Some requests or jobs did not finish within the grace and are cut off.');
    await database.close();
    logger.info('Stopped.');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
}
