import { availableParallelism } from 'node:os';
import swcOptions from './test/support/swc-options.json' with { type: 'json' };

/** Types are checked by `npm run typecheck`; here each file is only transpiled, which keeps a run short. */
export default {
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/alerts/',
    '<rootDir>/test/chaos/',
    '<rootDir>/test/commands/',
    '<rootDir>/test/bench/',
    '<rootDir>/test/browser/',
    '<rootDir>/test/slow/',
  ],
  moduleFileExtensions: ['ts', 'js', 'json'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': ['@swc/jest', swcOptions],
  },
  setupFiles: ['<rootDir>/test/support/jest/setup.cjs'],
  globalSetup: '<rootDir>/test/support/global-setup.cjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
  // Only ends hanging tests: on a busy machine, a test of a few seconds may take a minute.
  testTimeout: 180_000,
  // More workers than cores, because workers also wait for the database. Jest accepts no percentage above 100.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // A worker keeps the memory of the modules of each suite, so Jest replaces a worker that has grown too much.
  workerIdleMemoryLimit: '1GB',
};
