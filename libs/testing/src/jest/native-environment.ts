import { leakSearch, startLeakSearch } from '../leaks/search.ts';
import { writeUsedSecrets } from '../leaks/used-secrets.ts';
import { watchForLeaks } from '../leaks/watch.ts';

/** What jest-circus reports, as far as it is read here. */
type TestEvent = { readonly name: string };
type TestState = { readonly unhandledErrors: unknown[] };

/**
 * Jest's `testEnvironment`: the process as it is. What Jest changes in it for one test file is put back after
 * it. A test file fails if patients, secrets or tokens that it used are where none may be.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly #before = { console: globalThis.console, exit: Reflect.get(process, 'exit') };

  /** Undoes what Jest does for source maps, of which there are none: it makes every error expensive. */
  async setup(): Promise<void> {
    Reflect.deleteProperty(Error, 'prepareStackTrace');
    Error.stackTraceLimit = 20;
    watchForLeaks();
    startLeakSearch();
  }

  /** Adds leaks to the errors of a test file once its last hook has ended. */
  handleTestEvent({ name }: TestEvent, { unhandledErrors }: TestState): void {
    if (name !== 'run_finish') return;
    const leaks = leakSearch().found();
    writeUsedSecrets(leakSearch().used());
    if (leaks.length > 0) unhandledErrors.push(new Error(`What must be hidden leaked:\n${leaks.join('\n')}`));
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
