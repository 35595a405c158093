import base from '../../jest.config.mjs';

/** The suites that need a browser: Chromium from the system, found at CHROMIUM_PATH or /usr/bin/chromium. */
export default {
  ...base,
  rootDir: '../..',
  roots: ['<rootDir>/test/browser'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 60_000,
};
