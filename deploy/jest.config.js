import { dirname } from 'node:path';
import { findTestFiles } from '../libs/testing/src/jest/test-files.ts';
import { testLimitMs } from '../libs/testing/src/until.ts';

const rootDir = dirname(import.meta.dirname);
const jest = '<rootDir>/libs/testing/src/jest';
const files = findTestFiles();

const unit = {
  displayName: 'unit',
  rootDir,
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/deploy'],
  testMatch: files.unit,
  runtime: `${jest}/native-runtime.ts`,
  testEnvironment: `${jest}/native-environment.ts`,
  // A built package has the name of its sources.
  modulePathIgnorePatterns: ['<rootDir>/libs/[^/]+/dist/'],
  // Node strips the types.
  transform: {},
  injectGlobals: false,
};

const integration = {
  ...unit,
  displayName: 'integration',
  testMatch: files.integration,
  globalSetup: `${jest}/setup.ts`,
  globalTeardown: `${jest}/teardown.ts`,
};

const alone = {
  ...integration,
  displayName: 'alone',
  testMatch: files.alone,
  runner: `${jest}/one-at-a-time.js`,
};

const cluster = { ...unit, displayName: 'cluster', testMatch: files.cluster };

export default {
  rootDir,
  // The tests of a cluster run by themselves.
  projects: process.env['TESTS'] === 'cluster' ? [cluster] : [unit, integration, alone],
  testSequencer: `${jest}/slowest-first.ts`,
  maxWorkers: '100%',
  // A fresh one loads everything again. Most keep about 300 MB.
  workerIdleMemoryLimit: '450MB',
  testTimeout: testLimitMs,
  // A test that failed may have left a server open, and the run is over all the same.
  forceExit: true,
};
