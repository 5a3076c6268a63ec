// Replaces `@jest/globals`. native-runtime.ts loads this module again for each test file.
export const { describe, it, test, expect, beforeAll, afterAll, beforeEach, afterEach } =
  globalThis[Symbol.for('clinical-launch.jest-globals')];
