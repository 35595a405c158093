import type { Logger } from 'pino';

/** SIGUSR2 turns the lines for debugging on, and off again: nobody has to restart a service to look into it. */
export function changeLevelOnSignal(logger: Logger, configured: string): void {
  process.on('SIGUSR2', () => {
    const level = logger.level === 'debug' ? configured : 'debug';
    logger.level = level;
    logger.warn({ log_level: level }, `SIGUSR2: the log is at ${level} from now on.`);
  });
}
