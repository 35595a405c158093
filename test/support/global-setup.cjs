// Jest applies moduleNameMapper to no file that a global setup requires.
require('./jobs/run-typescript.cjs');

module.exports = require('./test-server.ts').startTestServer;
