import './node-version.js';
import { stopAsked } from './stop-signal.js';
import { openWithKeys } from './app.database.js';
import { createApp } from './app.setup.js';
import { createRootLogger } from './platform/logging/logger-options.js';
import { exposureWarning, loadSettings } from './platform/config/load-settings.js';
import { runUntilStopped } from './shutdown.js';

async function main(): Promise<void> {
  const settings = loadSettings();
  const logger = createRootLogger(settings);
  const warning = exposureWarning(settings);
  if (warning) logger.warn(warning);
  await runUntilStopped(stopAsked, settings, logger, async (giveUp) => {
    const log = (line: string): void => logger.info(line);
    const { database } = await openWithKeys(settings, log, giveUp);
    const app = await createApp({ settings, dataSource: database.dataSource, logger });
    await app.listen(settings.port, settings.host);
    logger.info(
      { ready_after_ms: Math.round(process.uptime() * 1000) },
      `Listening on ${await app.getUrl()}`,
    );
    return { app, database };
  });
}

main().catch((error: unknown) => {
  // One line that an operator can act on; the stack only where someone asks for it.
  process.stderr.write(`Not started: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
