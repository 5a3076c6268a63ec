import { dirname } from 'node:path';
import { findTestFiles } from '@clinical-launch/testing/jest/test-files';
import { testLimitMs } from '@clinical-launch/testing/until';

const rootDir = dirname(import.meta.dirname);
const jest = '<rootDir>/libs/testing/src/jest';
const files = findTestFiles();

const unit = {
  displayName: 'unit',
  rootDir,
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/tools', '<rootDir>/tests'],
  testMatch: files.unit,
  runtime: `${jest}/native-runtime.ts`,
  testEnvironment: `${jest}/native-environment.ts`,
  // A built package has the name of its sources.
  modulePathIgnorePatterns: ['<rootDir>/libs/[^/]+/dist/'],
  // Node strips the types.
  transform: {},
  injectGlobals: false,
};

const onServers = { ...unit, globalSetup: `${jest}/setup.ts`, globalTeardown: `${jest}/teardown.ts` };

/** The projects of each tier. */
const tiers = {
  unit: [unit],
  test: [unit, { ...onServers, displayName: 'integration', testMatch: files.integration }],
  system: [{ ...onServers, displayName: 'system', testMatch: files.system }],
  faults: [{ ...onServers, displayName: 'faults', testMatch: files.faults }],
  cluster: [{ ...unit, displayName: 'cluster', testMatch: files.cluster }],
};
const tier = process.env['TESTS'] ?? 'test';

export default {
  rootDir,
  projects: tiers[tier],
  testSequencer: `${jest}/slowest-first.ts`,
  // A fault test starts every service and loads both cores.
  maxWorkers: tier === 'faults' ? 1 : '100%',
  // At 450 MB the processes of the run had more than 1 GB together. A new worker loads everything again.
  workerIdleMemoryLimit: '350MB',
  testTimeout: testLimitMs,
  // A test that failed may have left a server open, and the run is over all the same.
  forceExit: true,
};
