import { dirname } from 'node:path';
import { findTestFiles } from '@clinical-launch/testing/jest/test-files';
import { testLimitMs } from '@clinical-launch/testing/until';

const rootDir = dirname(import.meta.dirname);
const jest = '<rootDir>/libs/testing/src/jest';
const files = findTestFiles();

const unit = {
  displayName: 'unit',
  rootDir,
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/sandbox', '<rootDir>/tools', '<rootDir>/tests'],
  testMatch: files.unit,
  runtime: `${jest}/native-runtime.ts`,
  testEnvironment: `${jest}/native-environment.ts`,
  // A built package has the same name as its source, so Jest must not find both.
  modulePathIgnorePatterns: ['<rootDir>/(libs|sandbox)/[^/]+/dist/'],
  // Transforms nothing, because Node strips the types.
  transform: {},
  injectGlobals: false,
};

const onServers = { ...unit, globalSetup: `${jest}/setup.ts`, globalTeardown: `${jest}/teardown.ts` };

/** The projects of each test tier. */
const tiers = {
  unit: [unit],
  test: [unit, { ...onServers, displayName: 'integration', testMatch: files.integration }],
  system: [{ ...onServers, displayName: 'system', testMatch: files.system }],
  faults: [{ ...onServers, displayName: 'faults', testMatch: files.faults }],
  cluster: [{ ...unit, displayName: 'cluster', testMatch: files.cluster }],
};
const tier = process.env['TESTS'] ?? 'test';

const ofTier = new Set(tiers[tier].flatMap(({ testMatch }) => testMatch));
const evidence = {
  documents: [`${rootDir}/docs/safety/hazards.md`, `${rootDir}/docs/reference/conformance.md`],
  files: [...ofTier],
  otherFiles: Object.values(files)
    .flat()
    .filter((file) => !ofTier.has(file)),
};

export default {
  rootDir,
  projects: tiers[tier],
  reporters: ['default', [`${jest}/evidence-reporter.ts`, evidence]],
  testSequencer: `${jest}/slowest-first.ts`,
  // Runs fault tests one at a time, because each starts every service and uses both cores.
  maxWorkers: tier === 'faults' ? 1 : '100%',
  // With 450 MB, the run used more than 1 GB in total. A lower limit restarts workers more often, and each
  // restart loads every module again.
  workerIdleMemoryLimit: '350MB',
  testTimeout: testLimitMs,
  // Jest's 500 ms for a worker to end are too short on a busy machine.
  workerGracefulExitTimeout: 10_000,
};
