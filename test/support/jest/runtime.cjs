const { default: Runtime } = require('jest-runtime');
const { createRequire, isBuiltin } = require('node:module');
const { pathToFileURL } = require('node:url');
const { compileFunction, SyntheticModule } = require('node:vm');

/** Modules of the service and of test/support. They are loaded once per worker. */
const ofTheWorker = new Map();
/** Runtime of the current suite, through which the modules of the worker load further modules. */
const suite = { runtime: undefined };

/**
 * Loads packages and the modules of the service once per worker, because loading them for each suite took most of the
 * time of a run. Only the specs are loaded for each suite. So modules cannot be mocked, and their state stays for the
 * next suite. A suite that needs fresh modules sets `@jest-environment-options {"ownModules": true}`.
 */
module.exports = class SharedPackagesRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    suite.runtime = this;
    if (!args[1].ownModules) this.registries.moduleRegistry = new SharedRegistry();
    const { executor } = this;
    executor.compile = (source, filename) => {
      if (!executor.environment.getVmContext()) return null;
      return compileFunction(source, executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: (specifier) => suite.runtime.importFrom(filename, specifier),
      });
    };
  }

  requireModuleOrMock(from, name) {
    // The caller is a function that createRequire returned to a module of the worker.
    if (suite.runtime !== this) return suite.runtime.requireModuleOrMock(from, name);
    return isShared(name) ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }

  async importFrom(file, specifier) {
    if (!/^\.{0,2}\//.test(specifier)) return await import(specifier);
    if (specifier.endsWith('.mjs')) return await import(new URL(specifier, pathToFileURL(file)));
    const exported = this.requireModuleOrMock(file, specifier);
    const values = Object.entries({ ...exported, default: exported });
    const module = new SyntheticModule(
      values.map(([name]) => name),
      () => values.forEach(([name, value]) => module.setExport(name, value)),
    );
    await module.link(() => undefined);
    await module.evaluate();
    return module;
  }
};

function isShared(name) {
  return !/^[./]/.test(name) && !isBuiltin(name) && name !== '@jest/globals';
}

/** Module registry of a suite. Also finds the modules of the worker. */
class SharedRegistry extends Map {
  get(path) {
    return isOfTheWorker(path) ? ofTheWorker.get(path) : super.get(path);
  }
  has(path) {
    return isOfTheWorker(path) ? ofTheWorker.has(path) : super.has(path);
  }
  set(path, module) {
    if (isOfTheWorker(path)) ofTheWorker.set(path, module);
    else super.set(path, module);
    return this;
  }
  delete(path) {
    return isOfTheWorker(path) ? ofTheWorker.delete(path) : super.delete(path);
  }
}

function isOfTheWorker(path) {
  return /\/(?:src|test\/support|scripts)\//.test(path) && !/\.spec\.ts$|node_modules/.test(path);
}
