import { dirname } from 'node:path';
import { testLimitMs } from '../libs/testing/src/until.ts';

// The fault tests kill processes under a steady load and measure how fast the others answer: they run one at a time,
// after all the other tests.
const rootDir = dirname(import.meta.dirname);
const jest = '<rootDir>/libs/testing/src/jest';
const all = {
  rootDir,
  runtime: `${jest}/native-runtime.ts`,
  testEnvironment: `${jest}/native-environment.ts`,
  // Node strips the types.
  transform: {},
  injectGlobals: false,
  globalSetup: `${jest}/global-setup.ts`,
  globalTeardown: `${jest}/global-teardown.ts`,
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
      runner: `${jest}/one-at-a-time.js`,
    },
  ],
  maxWorkers: '100%',
  workerIdleMemoryLimit: '300MB',
  testTimeout: testLimitMs,
  // A test that failed may have left a server open, and the run is over all the same.
  forceExit: true,
};
