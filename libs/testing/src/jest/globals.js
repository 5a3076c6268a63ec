// What `@jest/globals` is for the test file that runs: native-runtime.ts loads this again for each.
export const { describe, it, test, expect, beforeAll, afterAll, beforeEach, afterEach } =
  globalThis[Symbol.for('clinical-launch.jest-globals')];
