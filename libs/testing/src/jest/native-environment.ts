/** The events of jest-circus that are used here. */
type TestEvent =
  | { readonly name: 'test_fn_failure'; readonly error?: { readonly name?: string } }
  | { readonly name: 'test_start'; readonly test: { mode?: 'skip' } };

/**
 * Jest's `testEnvironment`: the process itself, without a `vm` context. Undoes Jest's changes to the process
 * after each test file.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  #hasTimedOut = false;
  readonly #before = { console: globalThis.console, exit: Reflect.get(process, 'exit') };

  /** Removes Jest's support for source maps, which makes every error expensive. There are no source maps. */
  async setup(): Promise<void> {
    Reflect.deleteProperty(Error, 'prepareStackTrace');
    Error.stackTraceLimit = 20;
  }

  async teardown(): Promise<void> {
    globalThis.console = this.#before.console;
    process.exit = this.#before.exit;
  }

  /**
   * Skips the rest of a file after a test timed out while it waited for its page. Usually the later tests
   * would fail too, and each would wait for minutes before it reports the same fault.
   */
  handleTestEvent(event: TestEvent): void {
    if (event.name === 'test_fn_failure' && event.error?.name === 'TimeoutError') this.#hasTimedOut = true;
    if (event.name === 'test_start' && this.#hasTimedOut) event.test.mode = 'skip';
  }

  /** Returns null, because there is no `vm` context. */
  getVmContext(): null {
    return null;
  }
}
