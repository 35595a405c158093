import { Logger, PinoLogger } from 'nestjs-pino';
import type { Logger as RootLogger } from 'pino';
import { loggerParams } from './logger-options.js';

/** What Nest says of its modules and routes at each start: a hundred lines that only its debugger wants. */
const FRAMEWORK = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** Carries what the framework and our own classes log, of which the framework's ordinary lines are for debugging. */
export class ServiceLogger extends Logger {
  constructor(root: RootLogger) {
    const params = loggerParams(root);
    super(new PinoLogger(params), params);
  }

  override log(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    if (typeof context === 'string' && FRAMEWORK.has(context)) super.debug(message, ...rest);
    else super.log(message, ...rest);
  }
}
