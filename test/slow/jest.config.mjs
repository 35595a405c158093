import { availableParallelism } from 'node:os';
import config from '../../jest.config.mjs';

/** What waits for more than some seconds, apart from the tests that everybody runs all the time. */
export default {
  ...config,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/slow/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // They wait more than they work. Jest takes no percentage above 100.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
};
