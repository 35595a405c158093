/*
 * Jest transpiles the files that a global setup requires, but does not apply moduleNameMapper to them: the `.js` of an
 * import is led to its `.ts` here.
 */
const { registerHooks } = require('node:module');

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!/^\.{1,2}\/.*\.js$/.test(specifier)) throw error;
      return next(specifier.replace(/\.js$/, '.ts'), context);
    }
  },
});

module.exports = require('./test-server.ts').startTestServer;
