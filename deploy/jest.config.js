import { dirname } from 'node:path';

// The fault tests kill processes under a steady load and measure how fast the others answer: they run one at a time,
// after all the other tests.
const rootDir = dirname(import.meta.dirname);
const all = {
  rootDir,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/libs/testing/strip-types.js' },
  globalSetup: '<rootDir>/libs/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.ts',
};
const faults = '<rootDir>/deploy/tests/faults';

export default {
  rootDir,
  projects: [
    {
      ...all,
      roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/deploy'],
      testMatch: ['**/test/**/*.test.ts', '<rootDir>/deploy/tests/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', `${faults}/`],
    },
    {
      ...all,
      roots: [faults],
      testMatch: ['**/*.faults.test.ts'],
      runner: '<rootDir>/libs/testing/one-at-a-time.js',
    },
  ],
  coverageProvider: 'v8',
  maxWorkers: '100%',
  workerIdleMemoryLimit: '1GB',
  // One limit for all, that a busy machine keeps: tests wait for conditions, and what never comes is found here.
  testTimeout: 180_000,
  // A test that failed may have left a server open, and the run is over all the same.
  forceExit: true,
};
