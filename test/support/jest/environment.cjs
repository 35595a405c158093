const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { createContext } = require('node:vm');

/** Names of values that Jest keeps on the global object. The next suite must not find them. */
const OF_ONE_SUITE =
  /^(EVENT_HANDLERS|TEST_TIMEOUT_SYMBOL|RETRY_|WAIT_BEFORE_RETRY|LOG_ERRORS_BEFORE_RETRY|JEST_)/;

/**
 * Runs all suites of a worker in the realm of the worker, so that they share loaded modules (`runtime.cjs`) and
 * `instanceof` works as in the service. Restores the globals and the package state that a suite changed.
 */
module.exports = class SharedRealmEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.ownModules = projectConfig.testEnvironmentOptions.ownModules === true;
    // Jest only checks that a context exists, because the runtime compiles in the realm of the worker.
    this.context = createContext({});
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.Logger = require('@nestjs/common').Logger;
    this.promClient = require('prom-client');
    this.resetLogger = require(
      require.resolve('nestjs-pino').replace(/index\.js$/, 'PinoLogger.js'),
    ).__resetOutOfContextForTests;
    this.before = {
      env: { ...process.env },
      exit: process.exit,
      console: globalThis.console,
      Date: globalThis.Date,
      logger: this.Logger.staticInstanceRef,
    };
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    const { env, exit, console, Date, logger } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    Object.assign(globalThis, { console, Date });
    this.Logger.staticInstanceRef = logger;
    // The next suite starts its own apps, with their metrics and logger.
    this.promClient.register.clear();
    this.resetLogger();
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (OF_ONE_SUITE.test(symbol.description)) delete globalThis[symbol];
    }
    this.global = null;
    this.context = null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return this.context;
  }
};
