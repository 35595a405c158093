import base from '../../jest.config.mjs';

/** Suites that need a browser: the Chromium of the system, at CHROMIUM_PATH or /usr/bin/chromium. */
export default {
  ...base,
  rootDir: '../..',
  roots: ['<rootDir>/test/browser'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 60_000,
};
