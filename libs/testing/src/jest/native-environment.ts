/**
 * Jest's `testEnvironment`: the process as it is. What Jest changes in it for one test file is put back after
 * it.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
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

  /** Jest asks whether there is one. */
  getVmContext(): null {
    return null;
  }
}
