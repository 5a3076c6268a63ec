import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isTestModule } from './test-modules.ts';

/** A test file that contains one of these words uses a server of the run. */
export const serverWords = {
  redis: ['TEST_REDIS_URL', 'createRedisLab'],
  rabbitMq: ['TEST_AMQP_URL'],
  postgres: ['TEST_DATABASE_URL', 'createTestDatabase', 'openTestStorage', 'startPlatformForTest'],
  haproxy: ['startHaproxy'],
} as const;

/**
 * A test file that contains one of these words starts a server, a browser, an embedded database or another
 * process.
 */
const startWords = [
  'startPrometheus',
  'startRedis',
  'startRabbitMq',
  'startPostgres',
  'startChromium',
  'startFirefox',
  'startPlatform',
  'startTwin',
  'openEmbeddedStorage',
  'child_process',
];

/**
 * Returns whether a test file, or a test module that it imports directly or indirectly, contains one of these
 * words.
 */
export function names(testFile: string, words: readonly string[]): boolean {
  return textsOf(testFile).some((text) => words.some((word) => text.includes(word)));
}

/** Returns whether a test file needs no server, no browser and no other process. */
export function isUnitTest(testFile: string): boolean {
  return !names(testFile, [...Object.values(serverWords).flat(), ...startWords]);
}

const texts = new Map<string, readonly string[]>();

function textsOf(testFile: string): readonly string[] {
  const known = texts.get(testFile);
  if (known !== undefined) return known;
  const found = new Map<string, string>();
  const waiting = [testFile];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    const text = readFileSync(file, 'utf8');
    found.set(file, text);
    waiting.push(...testModulesIn(text, dirname(file)));
  }
  const reached = [...found.values()];
  texts.set(testFile, reached);
  return reached;
}

/** Returns the modules in test folders that a source imports or runs by name. */
function testModulesIn(text: string, folder: string): string[] {
  return [...text.matchAll(/'((?:[\w.-]+\/)*[\w.-]+\.ts)'/g)]
    .map(([, path = '']) => resolve(folder, path))
    .filter((path) => isTestModule(path) && existsSync(path));
}
