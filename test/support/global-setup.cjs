// Jest does not apply moduleNameMapper to files that a global setup requires.
require('./jobs/run-typescript.cjs');

module.exports = require('./test-server.ts').startTestServer;
