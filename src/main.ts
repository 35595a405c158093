import './node-version.js';
import './platform/config/thread-pool.js';
import { stopAsked } from './stop-signal.js';
import { openWithKeys } from './app.database.js';
import { createApp } from './app.setup.js';
import { WhoCanLogIn } from './auth/bootstrap/who-can-log-in.js';
import { createRootLogger } from './platform/logging/logger-options.js';
import { changeLevelOnSignal } from './platform/logging/level-signal.js';
import { PortClaim } from './platform/http/port-claim.js';
import { exposureWarning, loadSettings } from './platform/config/load-settings.js';
import { inOneSentence } from './start-failure.js';
import { logStart, reportFor, type Started } from './start-report.js';
import { startTracing } from './platform/tracing/start-tracing.js';
import { runUntilStopped } from './shutdown.js';

async function main(): Promise<void> {
  const settings = loadSettings();
  const claim = await PortClaim.of(settings);
  const logger = createRootLogger(settings);
  // A person is told in five lines when all is ready, and until then only of what is wrong.
  if (process.stdout.isTTY) logger.level = 'warn';
  changeLevelOnSignal(logger, settings.logLevel);
  const warning = exposureWarning(settings);
  if (warning) logger.warn(warning);
  const endTracing = await startTracing(settings, logger);
  await runUntilStopped(stopAsked, settings, logger, async (giveUp) => {
    const log = (line: string, err?: unknown): void =>
      err === undefined ? logger.info(line) : logger.error({ err }, line);
    const { database } = await openWithKeys(settings, log, giveUp);
    log(`Database: ${database.place}`);
    const app = await createApp({ settings, dataSource: database.dataSource, logger });
    const who = await app.get(WhoCanLogIn).inWords();
    await claim.release();
    await app.listen(settings.port, settings.host);
    const readyAfterMs = Math.round(process.uptime() * 1000);
    tell({ place: database.place, who, url: await app.getUrl(), readyAfterMs });
    return { app, database, endTracing };
  });

  function tell(started: Started): void {
    if (!process.stdout.isTTY) return logStart(logger, started);
    process.stdout.write(reportFor(started));
    logger.level = settings.logLevel;
  }
}

main().catch((error: unknown) => {
  // One line that an operator can act on; the stack only where someone asks for it.
  process.stderr.write(`Not started: ${inOneSentence(error)}\n`);
  process.exit(1);
});
