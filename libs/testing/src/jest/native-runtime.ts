import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isTestModule } from '../test-modules.ts';

const require = createRequire(import.meta.url);

/** Counts the test files of this process. */
let files = 0;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: ofThisFile(globals), shortCircuit: true };
    const resolved = next(specifier, context);
    return isOfTests(resolved.url) ? { ...resolved, url: ofThisFile(resolved.url) } : resolved;
  },
});

// Ends a worker, and all processes that its tests started, when its parent ends for any reason. This
// `disconnect` listener would keep the worker alive after a normal end, so it is removed when Jest removes
// its `message` listener.
const endWithParent = () => process.exit(1);
process.on('disconnect', endWithParent).on('removeListener', (event) => {
  if (event === 'message') process.off('disconnect', endWithParent);
});

// Jest restarts a worker whose heap exceeds `workerIdleMemoryLimit`. This code reports all memory as heap,
// because WebAssembly and buffers are outside the heap.
if (process.send !== undefined) {
  const { memoryUsage } = process;
  const rss = () => memoryUsage.rss();
  process.memoryUsage = Object.assign(() => ({ ...memoryUsage(), heapUsed: rss() }), { rss });
}

const globals = new URL('globals.js', import.meta.url).href;

/**
 * Returns whether a module is in a folder for tests. Such modules are loaded again for each test file,
 * because they hold the state of that file and use its `it`.
 */
const isOfTests = (url: string) => url.startsWith('file:') && isTestModule(fileURLToPath(url));

const ofThisFile = (url: string) => `${url}?file=${files}`;

/**
 * Jest's `runtime`: Node itself loads the test files and their imports, with its own type stripping and
 * module cache, as in production. Jest's own runtime loads every module again for each file into a `vm`
 * context, which takes longer, and the modules are never freed.
 *
 * The test files of a worker share the sources' modules and `process.env`. Modules cannot be mocked, and
 * there is no coverage.
 */
export default class NativeRuntime {
  setGlobalsForRuntime(values: object): void {
    Reflect.set(globalThis, Symbol.for('clinical-launch.jest-globals'), values);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(path: string): Promise<void> {
    files += 1;
    await import(pathToFileURL(path).href);
  }

  /** Loads the part of jest-circus that holds the state of a test file. Loads it again for each test file. */
  requireInternalModule(path: string): unknown {
    Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    Reflect.deleteProperty(require.cache, path);
    return require(path);
  }

  /** Removes the state of jest-circus, which holds every function of the test file. */
  teardown(): void {
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (key.description === 'JEST_STATE_SYMBOL') Reflect.deleteProperty(globalThis, key);
    }
  }

  // Jest also calls these methods. They do nothing here.
  requireModule(): void {}
  getSourceMaps(): void {}
  getAllCoverageInfoCopy(): void {}
  enterTestCode(): void {}
  leaveTestCode(): void {}
}
