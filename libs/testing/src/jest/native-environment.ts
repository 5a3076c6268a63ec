import { setTimeout as delay } from 'node:timers/promises';

/** The events of jest-circus that are used here. */
type TestEvent =
  | { readonly name: 'test_fn_failure' | 'hook_failure'; readonly error: unknown }
  | { readonly name: 'run_describe_start'; readonly describeBlock: { hooks: unknown[] } }
  | { readonly name: 'test_start'; readonly test: { mode?: 'skip'; readonly errors: readonly unknown[] } };

/** Far longer than connections need to close, even on a busy machine. */
const endsWithinMs = 60_000;

/** Returns what keeps this process running, except its standard streams and the channel to its parent. */
const openResources = () => process.getActiveResourcesInfo().filter((kind) => !/^(?:Pipe|TTY)/.test(kind));

/** Returns whether a condition, a page or a request took too long, or a test exceeded Jest's limit. */
const isTimeout = (error: unknown): boolean =>
  error instanceof Error ? error.name === 'TimeoutError' : String(error).startsWith('Exceeded timeout');

/**
 * Jest's `testEnvironment`: the process itself, without a `vm` context. Undoes Jest's changes to the process
 * after each test file.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  #hasTimedOut = false;
  #hasFailed = false;
  readonly #before = {
    console: globalThis.console,
    exit: Reflect.get(process, 'exit'),
    open: openResources().length,
  };

  /** Removes Jest's support for source maps, which makes every error expensive. There are no source maps. */
  async setup(): Promise<void> {
    Reflect.deleteProperty(Error, 'prepareStackTrace');
    Error.stackTraceLimit = 20;
  }

  /** @throws Error if tests that passed left a server, a connection or a timer open */
  async teardown(): Promise<void> {
    globalThis.console = this.#before.console;
    process.exit = this.#before.exit;
    if (this.#hasFailed) return;
    for (const deadline = Date.now() + endsWithinMs; Date.now() < deadline; await delay(50))
      if (openResources().length <= this.#before.open) return;
    throw new Error(`The tests left resources open: ${openResources().join(', ')}`);
  }

  /**
   * Skips the rest of a file after a test or a hook waited until a time limit. Usually the later tests would
   * fail too, and each would wait for minutes before it reports the same fault. A test whose `beforeAll`
   * failed is not skipped, because Jest reports the hook's error as the error of its tests.
   */
  handleTestEvent(event: TestEvent): void {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') {
      this.#hasFailed = true;
      this.#hasTimedOut ||= isTimeout(event.error);
    }
    if (!this.#hasTimedOut) return;
    if (event.name === 'run_describe_start') event.describeBlock.hooks = [];
    if (event.name === 'test_start' && event.test.errors.length === 0) event.test.mode = 'skip';
  }

  /** Returns null, because there is no `vm` context. */
  getVmContext(): null {
    return null;
  }
}
