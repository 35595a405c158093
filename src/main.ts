import { stopAsked } from './process-start.js';
import { version } from './platform/config/process.js';
import { createRootLogger, jsonLines, terminalLines } from './platform/logging/logger.js';
import { exposureWarning, loadSettings, type Settings } from './platform/config/settings.js';
import type { Logger } from 'pino';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Server } from 'node:http';
import { Session } from 'node:inspector/promises';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { within } from './platform/concurrency/within.js';
import { Draining, OpenConnections, claimPort } from './platform/http/listening.js';
import type { OpenDatabase } from './app.database.js';
import { reachServer } from './platform/database/reach-server.js';

async function main(): Promise<void> {
  const settings = loadSettings();
  const releasePort = await claimPort(settings);
  const { isTTY } = process.stdout;
  const logger = createRootLogger(
    settings,
    isTTY ? await terminalLines(process.stdout) : jsonLines(),
  );
  if (isTTY) logger.level = 'warn';
  const warning = exposureWarning(settings);
  if (warning) logger.warn(warning);
  const { otelExporterOtlpEndpoint: collector } = settings;
  const tracing = collector && (await import('./platform/tracing/open-telemetry.js'));
  const endTracing = tracing ? tracing.startTracing(collector, logger) : undefined;
  await runUntilStopped(settings, logger, async (giveUp) => {
    const log = (line: string): void => logger.info(line);
    const reached = reachServer(settings, log);
    // The embedded PostgreSQL starts while the modules of the service load.
    await Promise.race([reached, setImmediate()]);
    const [server, { openDatabase }, { createApp }, { Bootstrap }] = await Promise.all([
      reached,
      import('./app.database.js'),
      import('./app.setup.js'),
      import('./auth/bootstrap.js'),
    ]);
    const database = await openDatabase(server, settings, log, { giveUp });
    log(`Database: ${server.place}`);
    const app = await createApp({ settings, dataSource: database.dataSource, logger });
    const who = await app.get(Bootstrap).whoCanLogIn();
    await collectGarbage();
    await releasePort();
    await app.listen(settings.port, settings.host);
    reportStart(logger, server.place, who, await app.getUrl());
    if (process.stdout.isTTY) logger.level = settings.logLevel;
    return { app, database, endTracing };
  });
}

/** Frees the memory of the start. An idle service would keep it: 205 MB instead of 145 MB. */
async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

function reportStart(logger: Logger, place: string, who: string, url: string): void {
  const readyAfterMs = Math.round(process.uptime() * 1000);
  if (!process.stdout.isTTY) {
    logger.info(`Who can log in: ${who}.`);
    logger.info(
      { version, docs: `${url}/docs`, ready_after_ms: readyAfterMs, database: place },
      `Listening on ${url}`,
    );
    return;
  }
  process.stdout.write(`Incident Triage Service ${version}
Database   ${place}
Log in as  ${who}
Addresses  API ${url}/api, documentation ${url}/docs
Ready      after ${(readyAfterMs / 1000).toFixed(1)} s; Ctrl+C stops it
`);
}

interface Service {
  readonly app: NestFastifyApplication;
  readonly database: OpenDatabase;
  readonly endTracing: (() => Promise<void>) | undefined;
}

/** A stop signal, even during the start, stops the started parts in order. Rejects if the start fails. */
async function runUntilStopped(
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

/** Readiness fails first, but requests are accepted until load balancers stop sending. The database closes last. */
async function stop(service: Service, settings: Settings, logger: Logger): Promise<void> {
  const { app, database, endTracing } = service;
  app.get(Draining).begun = true;
  await sleep(settings.shutdownDelayMs);
  const server: Server = app.getHttpServer();
  const listenerClosed = new Promise((resolve) => server.close(resolve));
  app.get(OpenConnections).closeUnused();
  const finished = Promise.all([listenerClosed, app.close()]).then(
    () => true,
    (error: unknown) => {
      logger.error({ err: error }, 'A part of the service did not stop cleanly.');
      return false;
    },
  );
  if ((await within(settings.shutdownGraceMs, finished, () => 'late')) === 'late') {
    logger.warn('Some requests or jobs did not finish within SHUTDOWN_GRACE_MS and are aborted.');
    server.closeAllConnections();
  }
  const databaseClosed = database.close().catch((error: unknown) => {
    logger.error({ err: error }, 'The database was not closed cleanly.');
  });
  await Promise.all([databaseClosed, endTracing?.()]);
}

main().catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`Not started: ${reason}\n`);
  process.exit(1);
});
