/** The events of jest-circus that are used here. */
type TestEvent =
  | { readonly name: 'test_fn_failure'; readonly error?: { readonly name?: string } }
  | { readonly name: 'test_start'; readonly test: { mode?: 'skip' } };

/**
 * Jest's `testEnvironment`: the process as it is. What Jest changes in it for one test file is put back after
 * it.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  #hasTimedOut = false;
  readonly #before = { console: globalThis.console, exit: Reflect.get(process, 'exit') };

  /** Undoes what Jest does for source maps, of which there are none: it makes every error expensive. */
  async setup(): Promise<void> {
    Reflect.deleteProperty(Error, 'prepareStackTrace');
    Error.stackTraceLimit = 20;
  }

  async teardown(): Promise<void> {
    globalThis.console = this.#before.console;
    process.exit = this.#before.exit;
  }

  /**
   * Skips the rest of a file after a test whose page did not show what it waited for: usually nothing after it
   * works either, and each test would wait for minutes to report the same fault.
   */
  handleTestEvent(event: TestEvent): void {
    if (event.name === 'test_fn_failure' && event.error?.name === 'TimeoutError') this.#hasTimedOut = true;
    if (event.name === 'test_start' && this.#hasTimedOut) event.test.mode = 'skip';
  }

  /** Jest asks whether there is one. */
  getVmContext(): null {
    return null;
  }
}
