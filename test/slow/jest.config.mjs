import config from '../../jest.config.mjs';

/** Suites that take several seconds: processes, clusters, several replicas. `npm test` does not run them. */
export default {
  ...config,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/slow/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
