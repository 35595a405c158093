import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { within } from './platform/concurrency/within.js';
import { Draining, OpenConnections } from './platform/http/draining.js';
import type { Settings } from './platform/config/settings.js';
import type { OpenDatabase } from './platform/database/open-database.js';

export interface Service {
  readonly app: NestFastifyApplication;
  readonly database: OpenDatabase;
  /** Sends what is left of traces, within a bounded time. */
  readonly endTracing: () => Promise<void>;
}

/**
 * Starts the service and ends the process when it is told to stop, also while it still starts: what has been started by
 * then is stopped in order. Rejects when the start fails.
 */
export async function runUntilStopped(
  stopAsked: Promise<NodeJS.Signals>,
  settings: Settings,
  logger: Logger,
  start: (giveUp: AbortSignal) => Promise<Service>,
): Promise<void> {
  const giveUp = new AbortController();
  const starting = start(giveUp.signal);
  const signal = await Promise.race([stopAsked, starting.then(() => stopAsked)]);
  logger.info(`${signal}: stopping.`);
  giveUp.abort();
  const started = starting.catch(() => undefined);
  const service = await within(settings.shutdownGraceMs, started, () => undefined);
  if (service) await stop(service, settings, logger);
  logger.info('Stopped.');
  process.exit(0);
}

/**
 * Readiness fails at once, requests are still taken for the delay that a load balancer needs, then what runs may finish
 * within the grace, and the database goes last.
 */
async function stop(service: Service, settings: Settings, logger: Logger): Promise<void> {
  const { app, database, endTracing } = service;
  app.get(Draining).begin();
  await sleep(settings.shutdownDelayMs);
  const server: Server = app.getHttpServer();
  const listenerClosed = closed(server);
  app.get(OpenConnections).closeUnused();
  const finished = Promise.all([listenerClosed, app.close()]).then(
    () => true,
    (error: unknown) => {
      logger.error({ err: error }, 'A part of the service did not stop in order.');
      return false;
    },
  );
  if ((await within(settings.shutdownGraceMs, finished, () => 'late')) === 'late') {
    logger.warn('Some requests or jobs did not finish within the grace and are cut off.');
    server.closeAllConnections();
  }
  const databaseClosed = database.close().catch((error: unknown) => {
    logger.error({ err: error }, 'The database was not closed in order.');
  });
  await Promise.all([databaseClosed, endTracing()]);
}

/** Takes no more connections; done when the last answer is out. Connections that are waiting are closed at once. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
